#include "readers/run_index.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace pymemrun {
namespace {

constexpr size_t kBlockBytes = 256 * 1024;
// What a name costs besides its bytes: a slot in the set.
constexpr size_t kNameOverheadBytes = 32;
// After so much of it a stack's text is cut.
constexpr size_t kMaxStackTextBytes = 256 * 1024;
// The run file did not say, or what it said was damaged.
constexpr absl::string_view kUnknownName = "?";

// Entry `id` (ids start at 1), or null.
template <typename T>
const T* Find(const std::deque<T>& table, uint32_t id) {
  return id == 0 || id > table.size() ? nullptr : &table[id - 1];
}

}  // namespace

absl::string_view WhatName(What what) {
  static constexpr absl::string_view kNames[] = {"CALL", "RETURN", "C_CALL",
                                                 "C_RETURN", "C_EXCEPT"};
  const auto index = static_cast<size_t>(what);
  return index < std::size(kNames) ? kNames[index] : "?";
}

absl::string_view NamePool::Keep(absl::string_view name) {
  std::string cut;
  if (name.size() > kMaxNameBytes) {
    cut = absl::StrCat(name.substr(0, kMaxNameBytes), "... (", name.size(),
                       " bytes)");
    name = cut;
  }
  const auto found = names_.find(name);
  if (found != names_.end()) return *found;
  if (used_bytes_ + name.size() + kNameOverheadBytes > max_bytes_) {
    return kNoRoom;
  }
  const absl::string_view kept = Store(name);
  names_.insert(kept);
  return kept;
}

absl::string_view NamePool::Store(absl::string_view name) {
  used_bytes_ += name.size() + kNameOverheadBytes;
  if (name.size() > room_) {
    room_ = std::max(kBlockBytes, name.size());
    blocks_.emplace_back(new char[room_]);
    next_ = blocks_.back().get();
  }
  if (!name.empty()) std::memcpy(next_, name.data(), name.size());
  const absl::string_view kept(next_, name.size());
  next_ += name.size();
  room_ -= name.size();
  return kept;
}

void RunIndex::Add(const CodeDef& code) {
  if (codes_.size() >= limits_.codes) {
    ++not_kept_;
    return;
  }
  codes_.push_back({names_.Keep(code.file()), names_.Keep(code.name()),
                    names_.Keep(code.module()), code.first_line()});
}

void RunIndex::Add(const FunctionDef& function) {
  if (functions_.size() >= limits_.codes) {
    ++not_kept_;
    return;
  }
  functions_.push_back(
      {names_.Keep(function.qualname()), names_.Keep(function.module())});
}

void RunIndex::Add(const SiteDef& site) {
  if (sites_.size() >= limits_.sites) {
    ++not_kept_;
    return;
  }
  sites_.push_back({site.code(), site.line(), site.function(), site.what(),
                    site.makes_object()});
}

void RunIndex::Add(const ThreadDef& thread) {
  if (threads_.size() >= limits_.threads) {
    ++not_kept_;
    return;
  }
  const absl::string_view label =
      names_.Keep(absl::StrCat(thread.name(), "#", thread.native_id()));
  threads_.push_back({label, std::min(thread.name().size(), label.size()),
                      thread.native_id()});
}

void RunIndex::Add(const StackDef& node) {
  if (stacks_.size() >= limits_.stacks) {
    ++not_kept_;
    return;
  }
  // A parent comes before its children: walks outwards end.
  const bool known = node.parent() <= stacks_.size();
  stacks_.push_back({known ? node.parent() : 0, node.code(), node.line()});
}

bool RunIndex::MakesObject(uint32_t site_id) const {
  const Site* site = Find(sites_, site_id);
  return site != nullptr && site->makes_object;
}

Place RunIndex::Resolve(uint32_t site_id) const {
  Place place;
  place.file = place.function = place.code_name = NamePool::kNoRoom;
  const Site* site = Find(sites_, site_id);
  if (site == nullptr) return place;
  place.kind = site->what;
  place.what = WhatName(site->what);
  place.line = site->line;
  const Code* code = Find(codes_, site->code);
  if (site->code == 0) {
    place.file = place.function = place.code_name = kUnknownName;
  } else if (code != nullptr) {
    place.file = code->file;
    place.function = place.code_name = code->name;
    place.module = code->module;
    place.first_line = code->first_line;
  }
  if (site->function == 0) return place;
  const Function* function = Find(functions_, site->function);
  place.function = function == nullptr ? NamePool::kNoRoom : function->qualname;
  place.module = function == nullptr ? "" : function->module;
  return place;
}

std::string RunIndex::StackText(uint32_t stack_id) const {
  std::vector<std::string> frames;  // innermost first
  size_t bytes = 0;
  while (const StackNode* node = Find(stacks_, stack_id)) {
    if (bytes > kMaxStackTextBytes) {
      frames.emplace_back("...");
      break;
    }
    const Code* code = Find(codes_, node->code);
    frames.push_back(absl::StrCat(
        code == nullptr ? NamePool::kNoRoom : code->file, ":", node->line, ":",
        code == nullptr ? NamePool::kNoRoom : code->name));
    bytes += frames.back().size();
    stack_id = node->parent;
  }
  std::reverse(frames.begin(), frames.end());
  return absl::StrJoin(frames, ";");
}

absl::string_view RunIndex::ThreadLabel(uint32_t thread_id) const {
  const Thread* thread = Find(threads_, thread_id);
  return thread == nullptr ? NamePool::kNoRoom : thread->label;
}

absl::string_view RunIndex::ThreadName(uint32_t thread_id) const {
  const Thread* thread = Find(threads_, thread_id);
  return thread == nullptr ? NamePool::kNoRoom
                           : thread->label.substr(0, thread->name_size);
}

uint64_t RunIndex::ThreadNativeId(uint32_t thread_id) const {
  const Thread* thread = Find(threads_, thread_id);
  return thread == nullptr ? 0 : thread->native_id;
}

}  // namespace pymemrun
