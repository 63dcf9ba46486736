#include "readers/library_waits/library_waits.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "format/records/stack_depths.h"
#include "readers/run/own_code.h"

namespace pymemrun {
namespace {

// Of stacks of threads that C code began.
constexpr PackageSet kNative = ~PackageSet{0};

}  // namespace

PackageSet WaitFinder::SetOf(absl::string_view file) {
  // The standard library's threads work for whoever gave them a function.
  if (!absl::StrContains(file, "-packages/")) return 0;
  const absl::string_view package = OwnCode::PackageOf(file);
  if (package.empty()) return 0;
  const auto [found, is_new] = packages_.try_emplace(package, 0);
  if (is_new) found->second = PackageSet{1} << ((packages_.size() - 1) % 64);
  return found->second;
}

PackageSet WaitFinder::SetOfMapping(uint32_t mapping) {
  while (mappings_.size() <= std::min<size_t>(mapping, index_.mappings())) {
    mappings_.push_back(
        mappings_.empty() ? 0 : SetOf(index_.MappingName(mappings_.size())));
  }
  return mapping < mappings_.size() ? mappings_[mapping] : 0;
}

const WaitFinder::Stack& WaitFinder::Find(uint32_t stack) {
  if (stack >= stacks_.size()) stacks_.resize(index_.stacks() + 1);
  static const Stack kNone;
  if (stack >= stacks_.size()) return kNone;
  // Outwards to one that is known; then back.
  std::vector<uint32_t> unknown;
  for (uint32_t at = stack; at != 0 && !stacks_[at].known;
       at = index_.ParentStack(at)) {
    unknown.push_back(at);
  }
  for (auto at = unknown.rbegin(); at != unknown.rend(); ++at) {
    Stack& of = stacks_[*at];
    of.known = true;
    const uint32_t parent = index_.ParentStack(*at);
    of.is_own = index_.OwnStack(*at) != 0;
    if (index_.OwnStack(*at) == *at) continue;
    const bool first = of.is_own && index_.OwnStack(parent) == parent;
    if (!first) of = stacks_[parent];
    of.known = true;
    of.is_own = index_.OwnStack(*at) != 0;
    if (first) of.call = *at;
    const SourceLocation frame = index_.ResolveStack(*at);
    of.packages |= frame.file.empty() && frame.code_name == kNativeThreadName
                       ? kNative
                       : SetOf(frame.file);
  }
  return stacks_[stack];
}

void WaitFinder::OnRow(const Row& row) {
  if (row.stack == 0) return;
  uint64_t from_us = row.time_us;
  const bool returns = row.what == RETURN || row.what == C_RETURN;
  // Without its call it began at most when the thread was seen before.
  if (returns) {
    from_us -= row.call_us == 0 ? from_us : std::min(row.call_us, from_us);
  }
  Saw(from_us, row.time_us, row.thread, row.stack, 0);
}

void WaitFinder::Saw(uint64_t from_us, uint64_t time_us, uint32_t thread,
                     uint32_t stack, uint32_t code) {
  if (thread != last_thread_ || last_ == nullptr) {
    last_thread_ = thread;
    last_ = &threads_[thread];
  }
  Thread& state = *last_;
  static const Stack kNone;
  const Stack& of = stack == 0 ? kNone : Find(stack);
  state.runs_python |= stack != 0 && of.packages != kNative;
  if (!of.is_own) {
    if (of.packages != 0 || !state.runs_python) {
      worked_us_ = std::max(worked_us_, time_us);
    }
    return;
  }
  // A function in C has no frame. It may call libc's, and goes on in it.
  const PackageSet in_c = of.call == 0 ? SetOfMapping(code) : 0;
  if (in_c == 0 && code != 0 && state.call == stack) return;
  const PackageSet packages = of.packages | in_c;
  const bool is_call = packages != 0 && !index_.Imports(stack);
  const uint32_t call = !is_call ? 0 : in_c != 0 ? stack : of.call;
  Goes({from_us, thread, call, call == 0 ? 0 : packages}, time_us, &state);
}

void WaitFinder::Goes(LibraryWaits::Change to, uint64_t time_us,
                      Thread* thread) {
  Thread& state = *thread;
  const bool was_seen = state.change != SIZE_MAX;
  const bool was_in_other =
      was_seen && state.call != 0 && state.call != to.stack;
  if (to.stack == 0) {
    to.time_us = time_us;  // it may have waited until now
    state.seen_us = std::max(state.seen_us, time_us);
  } else if (to.time_us == 0 || to.time_us == time_us) {
    // It may have been there since it was seen in own code.
    to.time_us = was_in_other || state.seen_us == 0 ? time_us : state.seen_us;
  }
  to.time_us = std::max(to.time_us, state.seen_us);
  if (was_seen && state.call == to.stack) {
    LibraryWaits::Change& same = changes_[state.change];
    same.packages |= to.packages;
    same.time_us = std::min(same.time_us, to.time_us);
    return;
  }
  if (!was_seen && to.stack == 0) return;
  if (was_seen)
    to.time_us = std::max(to.time_us, changes_[state.change].time_us);
  if (was_in_other) state.seen_us = std::max(state.seen_us, to.time_us);
  state.call = to.stack;
  Add(to, &state);
}

void WaitFinder::Add(const LibraryWaits::Change& change, Thread* thread) {
  if (changes_.size() >= kMostChanges) return;
  thread->change = changes_.size();
  changes_.push_back(change);
}

std::shared_ptr<const LibraryWaits> WaitFinder::Take() {
  if (worked_us_ == 0 || changes_.empty()) return nullptr;
  auto waits = std::make_shared<LibraryWaits>();
  waits->changes = std::move(changes_);
  std::stable_sort(
      waits->changes.begin(), waits->changes.end(),
      [](const auto& a, const auto& b) { return a.time_us < b.time_us; });
  for (uint32_t i = 0; i <= index_.stacks(); ++i) {
    const Stack& of = Find(i);
    waits->workers.push_back(of.is_own ? 0 : of.packages);
  }
  for (const auto& [thread, state] : threads_) {
    if (state.runs_python) waits->python_threads.insert(thread);
  }
  SetOfMapping(static_cast<uint32_t>(index_.mappings()));
  waits->mappings = std::move(mappings_);
  return waits;
}

void WaitCursor::AdvanceTo(uint64_t time_us) {
  const std::vector<LibraryWaits::Change>& changes = waits_->changes;
  for (; next_ < changes.size() && changes[next_].time_us <= time_us; ++next_) {
    const LibraryWaits::Change& change = changes[next_];
    const auto [since, is_new] = since_.try_emplace(change.thread, 0);
    if (!is_new) now_.erase({UINT64_MAX - since->second, change.thread});
    if (change.stack == 0) {
      since_.erase(since);
    } else {
      since->second = change.time_us;
      now_[{UINT64_MAX - change.time_us, change.thread}] = &change;
    }
    has_last_ = false;
  }
}

uint32_t WaitCursor::Find(uint64_t time_us, uint32_t thread, uint32_t stack,
                          uint32_t code) {
  if (stack != 0 && waits_->workers[stack] == kNative) stack = 0;
  if (stack == 0 && waits_->python_threads.contains(thread)) return 0;
  AdvanceTo(time_us);
  PackageSet packages = 0;
  if (stack != 0) {
    packages = waits_->workers[stack];
  } else if (code < waits_->mappings.size()) {
    packages = waits_->mappings[code];
  }
  if (has_last_ && last_packages_ == packages && last_thread_ == thread) {
    return last_found_;
  }
  // The call that began last; of a native thread's, where no name is the same,
  // any. It may do its work by libc's code.
  const LibraryWaits::Change* found = nullptr;
  int looks = 0;
  for (const auto& [began, change] : now_) {
    if (++looks > kMostLooks) break;
    if (change->thread == thread) continue;
    if ((change->packages & packages) != 0) {
      found = change;
      break;
    }
    if (stack == 0 && found == nullptr) found = change;
  }
  has_last_ = true;
  last_packages_ = packages;
  last_thread_ = thread;
  return last_found_ = found == nullptr ? 0 : found->stack;
}

}  // namespace pymemrun
