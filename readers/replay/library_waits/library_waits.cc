#include "readers/replay/library_waits/library_waits.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "format/records/stack_depths.h"
#include "readers/run/own_code.h"

namespace pymemrun {
namespace {

// The set for stacks of threads that C code started.
constexpr PackageSet kNative = ~PackageSet{0};

}  // namespace

PackageSet WaitFinder::SetOf(absl::string_view file) {
  // Threads of the standard library work for the code that gave them a
  // function, so its packages do not count.
  if (!absl::StrContains(file, "-packages/")) return 0;
  const absl::string_view package = OwnCode::PackageOf(file);
  if (package.empty()) return 0;
  const auto [found, is_new] = packages_.try_emplace(package, 0);
  // 64 bits: with more packages some share a bit. The worst effect is a wait
  // attributed to a call of another package.
  if (is_new) found->second = PackageSet{1} << ((packages_.size() - 1) % 64);
  return found->second;
}

// Mappings are defined in the order of their ids, so the table is filled up to
// the one asked for.
PackageSet WaitFinder::SetOfMapping(uint32_t mapping) {
  while (mappings_.size() <= std::min<size_t>(mapping, index_.mappings())) {
    mappings_.push_back(
        mappings_.empty() ? 0 : SetOf(index_.MappingName(mappings_.size())));
  }
  return mapping < mappings_.size() ? mappings_[mapping] : 0;
}

// A frame inherits from its caller, so each frame is examined once.
const WaitFinder::Stack& WaitFinder::Find(uint32_t stack) {
  if (stack >= stacks_.size()) stacks_.resize(index_.stacks() + 1);
  static const Stack kNone;
  if (stack >= stacks_.size()) return kNone;
  // Outwards to a known frame, and back.
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
    // The own frame itself: what it called so far does not count.
    if (index_.OwnStack(*at) == *at) continue;
    // A frame called by an own frame starts the library's part of the stack.
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
  // The start of the call is unknown: at the earliest it is when the thread was
  // seen before.
  if (returns) {
    from_us -= row.call_us == 0 ? from_us : std::min(row.call_us, from_us);
  }
  Saw(from_us, row.time_us, row.thread, row.stack, kNoCode);
}

void WaitFinder::OnPages(const PageEntry* entries, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const PageEntry& entry = entries[i];
    // Only faults show that a thread worked: other entries are calls.
    if (entry.action != PAGE_CAME) continue;
    OnMemory(entry.time_us, entry.thread, entry.stack, entry.code_mapping);
  }
}

void WaitFinder::OnHeap(const HeapEvent* events, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const HeapEvent& event = events[i];
    if (event.is_free) continue;
    OnMemory(event.time_us, event.thread, event.stack, event.code);
  }
}

// Sorts what was seen into two kinds: a library's thread did something, or a
// thread with an own frame was in a call or in its own code.
void WaitFinder::Saw(uint64_t from_us, uint64_t time_us, uint32_t thread,
                     uint32_t stack, uint32_t code) {
  if (thread != last_.first || last_.second == nullptr) {
    last_ = {thread, &threads_[thread]};
  }
  Thread& state = *last_.second;
  static const Stack kNone;
  const Stack& of = stack == 0 ? kNone : Find(stack);
  // A thread that never ran Python is native: what it does is a library's work.
  state.runs_python |= stack != 0 && of.packages != kNative;
  // Without an own frame the thread is a worker, not a waiter.
  if (!of.is_own) {
    if (of.packages != 0 || !state.runs_python) {
      worked_us_ = std::max(worked_us_, time_us);
    }
    return;
  }
  // A C function has no frame. Its code may be in libc or in Python.
  const PackageSet in_c = of.call == 0 ? SetOfMapping(code) : 0;
  const PackageSet packages = of.packages | in_c;
  if (packages == 0 || index_.Imports(stack)) {
    // With a call, or an event of Python, it is certain that the thread ran its
    // own code.
    const bool is_sure = of.call != 0 || code == kNoCode;
    Add({from_us, time_us, time_us, thread, 0, is_sure ? 0 : stack, 0}, &state);
  } else {
    const uint32_t call = in_c != 0 ? stack : of.call;
    Add({from_us, time_us, time_us, thread, call, 0, packages}, &state);
  }
}

void WaitFinder::Add(const Sight& sight, Thread* thread) {
  // Successive sights of one call, or one line, are joined: memory grows with
  // changes only.
  if (thread->sight != SIZE_MAX) {
    Sight& last = sights_[thread->sight];
    if (last.call == sight.call && last.line == sight.line &&
        sight.first_us >= last.first_us) {
      last.from_us = std::min(last.from_us, sight.from_us);
      last.last_us = std::max(last.last_us, sight.last_us);
      last.packages |= sight.packages;
      return;
    }
  }
  // Beyond the limit sights are dropped: some waits remain unknown.
  if (sights_.size() >= kMostSights) return;
  thread->sight = sights_.size();
  sights_.push_back(sight);
}

std::vector<WaitFinder::Sight> WaitFinder::SortedSights() const {
  std::vector<Sight> sorted;
  for (const Sight& sight : sights_) {
    // A sight that lasted is two entries: its start and its last moment.
    sorted.push_back(sight);
    sorted.back().last_us = sight.first_us;
    if (sight.last_us == sight.first_us) continue;
    sorted.push_back(sight);
    sorted.back().from_us = sorted.back().first_us = sight.last_us;
  }
  std::stable_sort(
      sorted.begin(), sorted.end(),
      [](const Sight& a, const Sight& b) { return a.first_us < b.first_us; });
  return sorted;
}

void WaitFinder::Follow(const Sight& sight, Thread* thread) {
  Thread& state = *thread;
  const uint64_t time_us = sight.first_us;
  // The call may go on.
  if (sight.line != 0 && sight.line == state.call) return;
  // If it is uncertain, the line may have been in a C function at any time.
  const uint32_t line = sight.call != 0 ? sight.call : sight.line;
  if (line != state.line)
    state.seen_us = std::max(state.seen_us, state.line_us);
  state.line = sight.line;
  state.line_us = sight.line == 0 ? 0 : time_us;
  if (sight.call != 0) return Calls(sight, thread);
  if (sight.line == 0) state.seen_us = std::max(state.seen_us, time_us);
  // It was in no call before.
  if (state.call == 0) return;
  state.call = 0;  // it may have waited until now
  state.change = changes_.size();
  changes_.push_back({time_us, sight.thread, 0, 0});
}

void WaitFinder::Calls(const Sight& sight, Thread* thread) {
  Thread& state = *thread;
  const uint64_t time_us = sight.first_us;
  uint64_t from_us = sight.from_us;
  const bool was_in_other = state.call != 0 && state.call != sight.call;
  if (from_us == 0 || from_us == time_us) {
    // It may have been there since it was last seen in own code.
    from_us = was_in_other || state.seen_us == 0 ? time_us : state.seen_us;
  }
  // A call cannot have started before the thread was seen in own code.
  from_us = std::max(from_us, state.seen_us);
  if (state.call == sight.call) {
    LibraryWaits::Change& same = changes_[state.change];
    same.packages |= sight.packages;
    same.time_us = std::min(same.time_us, from_us);
    return;
  }
  // Nor before the thread's previous change.
  if (state.change != SIZE_MAX) {
    from_us = std::max(from_us, changes_[state.change].time_us);
  }
  if (was_in_other) state.seen_us = std::max(state.seen_us, from_us);
  state.call = sight.call;
  state.change = changes_.size();
  changes_.push_back({from_us, sight.thread, sight.call, sight.packages});
}

// Only now all sights are known and sorted: rows of one thread may be late in
// the file.
std::shared_ptr<const LibraryWaits> WaitFinder::Take() {
  if (worked_us_ == 0) return nullptr;
  for (const Sight& sight : SortedSights()) {
    Follow(sight, &threads_[sight.thread]);
  }
  if (changes_.empty()) return nullptr;
  auto waits = std::make_shared<LibraryWaits>();
  waits->changes = std::move(changes_);
  std::stable_sort(
      waits->changes.begin(), waits->changes.end(),
      [](const auto& a, const auto& b) { return a.time_us < b.time_us; });
  // A stack with an own frame is no worker's.
  for (uint32_t i = 0; i <= index_.stacks(); ++i) {
    const Stack& of = Find(i);
    // A stack with a frame of your own code is no library's worker.
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
    // The map is ordered by the start of calls: move the thread to its new
    // place.
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
  // A stack of native frames says nothing about the package.
  if (stack != 0 && waits_->workers[stack] == kNative) stack = 0;
  // A thread that runs Python, but has no stack here, is no library's thread.
  if (stack == 0 && waits_->python_threads.contains(thread)) return 0;
  AdvanceTo(time_us);
  PackageSet packages = 0;
  if (stack != 0) {
    packages = waits_->workers[stack];
  } else if (code < waits_->mappings.size()) {
    packages = waits_->mappings[code];
  }
  // Events of one worker often follow each other: reuse the answer until the
  // next change.
  if (has_last_ && last_packages_ == packages && last_thread_ == thread) {
    return last_found_;
  }
  // The call that started last. For a native thread, whose code may be in libc,
  // a call of any package will do.
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
