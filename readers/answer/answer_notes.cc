#include "readers/answer/answer_notes.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "text/columns.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

// What is missing where only pages, or only blocks, were recorded.
bool WasPaused(const Answer& answer) {
  return answer.facts.has_pauses || answer.facts.header.filters().paused();
}

absl::string_view FreeLabel(const Answer& answer) {
  if (answer.peak.heap == nullptr) return "heap, live and free";
  if (WasPaused(answer)) return "free, or not recorded";
  return answer.facts.header.heap_native() ? "free, kept by allocators"
                                           : "C code's heap, and free";
}

absl::string_view BeforeLabel(const Answer& answer) {
  return answer.facts.header.forked() ? "inherited from the parent"
                                      : "before tracing";
}

// " (nearly all by job.py:4)": which line of yours has most of the live blocks.
std::string MostLive(const MemorySplit& split,
                     const std::function<std::string(const Place&)>& name_of) {
  const PlaceHolding* most = nullptr;
  const auto blocks = [](const PlaceHolding& holding) {
    return holding.bytes - holding.file_bytes;
  };
  for (const PlaceHolding& holding : split.places) {
    if (!holding.is_own) continue;
    if (most == nullptr || blocks(holding) > blocks(*most)) most = &holding;
  }
  if (most == nullptr || blocks(*most) < 0.5) return "";
  constexpr double kNearlyAll = 0.95;
  const bool all =
      blocks(*most) >= kNearlyAll * (split.python_bytes + split.native_bytes);
  return absl::StrCat(" (", all ? "nearly all" : ShortBytes(blocks(*most)),
                      " by ", name_of(most->place), ")");
}

std::string Unrecorded(const Answer& answer) {
  std::vector<std::string> missing;
  const Header& header = answer.facts.header;
  const uint64_t children = answer.facts.footer.has_value()
                                ? answer.facts.footer->untraced_children()
                                : 0;
  if (children > 0) {
    missing.push_back(Counted(children, "child process", "child processes"));
  }
  if (WasPaused(answer)) {
    missing.push_back("what was allocated while tracing was off");
  }
  if (!answer.has_pages) {
    missing.push_back(
        answer.peak.split.before_bytes > 0
            ? "which pages are resident (--trace pages): files are as the "
              "kernel counts them"
            : "which pages are resident (--trace pages): RSS cannot be split");
  }
  if (!answer.facts.HasHeap()) {
    missing.push_back(
        header.page_scan()
            ? "allocations (--heap sampled): no line has memory"
            : "allocations (--heap sampled): memory is told by who touched it "
              "first");
  } else if (!header.heap_native()) {
    missing.push_back(
        "C code's own allocations (--native): numpy's and pandas' arrays have "
        "no line");
  }
  return absl::StrJoin(missing, "; ");
}

}  // namespace

std::vector<std::pair<absl::string_view, double>> PartsOf(
    const MemorySplit& split, const Answer& answer) {
  std::vector<std::pair<absl::string_view, double>> parts = {
      {"native heap", split.native_bytes},
      {"Python heap", split.python_bytes},
      {FreeLabel(answer), split.free_bytes},
      {"files and code", split.file_bytes},
      {BeforeLabel(answer), split.before_bytes},
      {"stacks of threads", split.stack_bytes},
      {"tracing itself", split.tracing_bytes},
      {"unattributed", split.unattributed_bytes}};
  const auto is_nothing = [](const auto& part) {
    return std::fabs(part.second) < 0.5;
  };
  parts.erase(std::remove_if(parts.begin(), parts.end(), is_nothing),
              parts.end());
  return parts;
}

std::string InheritedText(
    const Answer& answer,
    const std::function<std::string(const Place&)>& name_of) {
  constexpr size_t kMostLines = 3;
  std::vector<std::string> lines;
  for (const PlaceHolding& holding : answer.inherited) {
    if (lines.size() == kMostLines ||
        holding.bytes < 0.01 * answer.inherited[0].bytes) {
      break;
    }
    lines.push_back(absl::StrCat(ShortBytes(holding.bytes), " by ",
                                 name_of(holding.place)));
  }
  if (lines.empty()) return "";
  return absl::StrCat(
      "Live in the parent when it forked: ", absl::StrJoin(lines, "; "), ".");
}

std::string StillThere(
    const Answer& answer,
    const std::function<std::string(const Place&)>& name_of) {
  MemorySplit end = answer.end.split;
  if (end.rss_bytes <= 0) return "";
  std::vector<std::string> parts;
  const double live = end.python_bytes + end.native_bytes;
  if (live >= 0.5) {
    parts.push_back(
        absl::StrCat(ShortBytes(live), " live blocks", MostLive(end, name_of)));
  }
  end.python_bytes = end.native_bytes = 0;
  for (const auto& [name, bytes] : PartsOf(end, answer)) {
    parts.push_back(absl::StrCat(ShortBytes(bytes), " ", name));
  }
  return absl::StrCat(
      "Still there ",
      answer.has_no_end ? absl::StrCat("at the last record, ",
                                       HumanSeconds(answer.end.time_us))
                        : "when the program ended",
      ": ", ShortBytes(end.rss_bytes), parts.empty() ? "" : ", that is ",
      absl::StrJoin(parts, "; "), ".");
}

std::string LossText(const Answer& answer) {
  const uint64_t lost =
      answer.facts.Heap().lost + answer.facts.Pages().samples_lost;
  if (lost == 0) return "";
  return absl::StrCat(Counted(lost, "event"),
                      " were lost, as the disk was full or the collector too "
                      "slow: the figures here are wrong.");
}

std::vector<std::string> Remarks(const Answer& answer) {
  std::vector<std::string> remarks;
  if (!answer.facts.footer.has_value()) {
    remarks.push_back(
        "The file has no end: the program still runs, or the file was cut.");
  }
  const std::string unrecorded = Unrecorded(answer);
  if (!unrecorded.empty()) {
    remarks.push_back(absl::StrCat("Not recorded: ", unrecorded, "."));
  }
  return remarks;
}

std::string AlsoRecorded(const Answer& answer) {
  std::vector<std::string> commands;
  const RunFacts& facts = answer.facts;
  if (facts.Kept<GilRecording>().count > 0) commands = {"gil", "offgil"};
  if (facts.Kept<StateRecording>().count > 0) commands.push_back("states");
  if (facts.Kept<CounterPlan>().count > 0) commands.push_back("counters");
  if (facts.Kept<TaskRecording>().count > 0) commands.push_back("tasks");
  return commands.empty() ? ""
                          : absl::StrCat("Recorded too, see pymemreport: ",
                                         absl::StrJoin(commands, ", "), ".");
}

std::vector<NextCommand> NextCommands(const Answer& answer) {
  std::vector<NextCommand> next;
  const bool has_heap = answer.facts.HasHeap();
  if (has_heap) {
    next.push_back({"heap", {"--stacks"}, "who called these lines"});
  }
  if (answer.has_pages) {
    next.push_back({"timeline", {"-o", "rss.svg"}, "RSS over time, a picture"});
  } else if (answer.facts.HasCalls()) {
    next.push_back({"top", {}, "where RSS was seen to grow"});
  } else if (has_heap) {
    next.push_back({"history", {}, "live bytes over time"});
  } else {
    next.push_back({"summary", {}, "what the run came to"});
  }
  return next;
}

}  // namespace pymemrun
