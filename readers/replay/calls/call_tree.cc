#include "readers/replay/calls/call_tree.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "readers/replay/calls/call_filter.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// The deepest indentation: without a limit, a file with a deep recursion would
// print many times its size.
constexpr size_t kMaxIndent = 256;

// Seconds with few digits: "22.03", "0.000412".
std::string SecondsText(uint64_t us) {
  const double seconds = static_cast<double>(us) * 1e-6;
  if (us >= 1000000) return absl::StrFormat("%.2f", seconds);
  const std::string text = absl::StrFormat("%.6f", seconds);
  const size_t digit = text.find_last_not_of('0');
  return text.substr(0, std::max<size_t>(digit + 1, 3));
}

struct CallPlace {
  SourceLocation end;
  uint32_t first_line;  // of the CALL, or otherwise of the function
  absl::string_view file;
};

CallPlace PlaceOf(const EndedCall& call, const RunIndex& index,
                  absl::string_view prefix) {
  const SourceLocation end = index.Resolve(call.site);
  // A module's call has no line.
  const uint32_t line = index.Resolve(call.call_site).line;
  const bool has_line = call.call_site != 0 && line != 0;
  return {end, has_line ? line : end.first_line,
          WithoutPrefix(end.file, prefix)};
}

}  // namespace

bool CallFinder::OnRows(const Row* rows, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (rows[i].number != number_) continue;
    there_ = true;
    what_ = rows[i].what;
  }
  return CallReplay::OnRows(rows, count);
}

std::string CallFinder::WhyNot() const {
  if (!there_) return absl::StrCat("event ", number_, " is not in the file");
  if (!Ends(what_)) {
    return absl::StrCat("expected a RETURN as event ", number_, ", found ",
                        WhatName(what_));
  }
  if (call_.events == 0) {
    return absl::StrCat("the CALL of event ", number_, " is not known");
  }
  return "";
}

bool CallTree::OnRows(const Row* rows, size_t count) {
  return CallReplay::OnRows(rows, count) &&
         (count == 0 || rows[count - 1].number < root_.number);
}

// Calls of a thread come when they end, inner calls before the outer one. So
// the calls without a parent that began after this one are its children. Each
// call is pushed and popped once: linear time.
void CallTree::OnEnded(const EndedCall& call) {
  const uint64_t begin = call.call_number();
  const bool is_others =
      index().FirstThread(call.thread) != index().FirstThread(root_.thread);
  if (is_others || call.number >= root_.number ||
      begin <= root_.call_number() || !filter_.KeepsSite(call.site)) {
    return;
  }
  ++calls_;
  if (nodes_.size() >= kMaxNodes) return;
  const auto id = static_cast<uint32_t>(nodes_.size());
  uint32_t first_child = kNone;
  while (!tops_.empty() && nodes_[tops_.back()].call.call_number() > begin) {
    nodes_[tops_.back()].next = first_child;
    first_child = tops_.back();
    tops_.pop_back();
  }
  nodes_.push_back({call, first_child, kNone});
  tops_.push_back(id);
}

uint64_t CallTree::Shown(uint64_t limit) const {
  const uint64_t all = nodes_.size() + 1;
  return limit == 0 ? all : std::min(all, limit);
}

// Visits calls with their levels, outer calls before the calls within them.
// Without recursion: a program's recursion may be deeper than the stack of this
// one.
template <typename Visit>
void CallTree::Walk(uint64_t limit, Visit visit) const {
  struct Step {
    uint32_t node;
    size_t level;
  };
  visit(root_, 0);
  uint64_t left = limit == 0 ? nodes_.size() : limit - 1;
  std::vector<Step> steps;
  for (const uint32_t top : tops_) {
    steps.push_back({top, 1});
    while (!steps.empty()) {
      if (left-- == 0) return;
      const Step step = steps.back();
      steps.pop_back();
      const Node& node = nodes_[step.node];
      visit(node.call, step.level);
      if (node.next != kNone && step.level > 1) {
        steps.push_back({node.next, step.level});
      }
      if (node.first_child != kNone) {
        steps.push_back({node.first_child, step.level + 1});
      }
    }
  }
}

void CallTree::Print(absl::string_view prefix, uint64_t limit,
                     OutputBuffer* output) const {
  Walk(limit, [&](const EndedCall& call, size_t level) {
    const CallPlace place = PlaceOf(call, index(), prefix);
    output->Append(absl::StrCat(std::string(std::min(level, kMaxIndent), ' '),
                                TerminalText(place.end.function), "@",
                                TerminalText(place.file), ":", place.first_line,
                                "-", place.end.line,
                                ", Time: ", SecondsText(call.took_us),
                                " s, Memory: ", call.charged_bytes, " B\n"));
  });
}

Table CallTree::ToTable(absl::string_view prefix, uint64_t limit) const {
  Table table;
  table.headings = {{"level", "level"},
                    {"file", "file", CellLook::kName},
                    {"line", "line"},
                    {"function", "function", CellLook::kName},
                    {"last_line", "last line"},
                    {"call_s", "seconds"},
                    {"growth_bytes", "growth", CellLook::kBytes},
                    {"event", "event"},
                    {"call_event", "call"},
                    {"thread_growth_bytes", "by thread", CellLook::kBytes},
                    {"unix_s", ""}};
  Walk(limit, [&](const EndedCall& call, size_t level) {
    const CallPlace place = PlaceOf(call, index(), prefix);
    table.rows.push_back(
        {uint64_t{level}, std::string(place.file), uint64_t{place.first_line},
         std::string(place.end.function), uint64_t{place.end.line},
         static_cast<double>(call.took_us) * 1e-6, call.growth_bytes,
         call.number, call.call_number(), ThreadCell(call.thread_bytes),
         UnixCell(call.time_us)});
  });
  table.places = table.rows.size();
  return table;
}

}  // namespace pymemrun
