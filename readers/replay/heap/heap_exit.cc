#include "readers/replay/heap/heap_exit.h"

#include "absl/strings/match.h"
#include "format/records/stack_depths.h"

namespace pymemrun {
namespace {

// Files of earlier versions kept only this number of innermost frames, without
// a sign of the others. So such a stack may lack its outermost frames.
constexpr uint32_t kMostFrames = kMaxStackNodes - 1;

// The outermost frame of each thread that CPython's threading module starts.
bool IsThreadBegin(const Place& function) {
  return function.function == "_bootstrap" &&
         absl::EndsWith(function.file, "/threading.py");
}

}  // namespace

// The first stack that is not the interpreter's own shows the program's
// outermost function. Later stacks belong to the program if they start with it.
HeapExitFinder::Kind HeapExitFinder::KindOf(uint32_t stack) {
  if (stack == 0 || stack > kMaxStack) return kOther;
  if (stack >= kinds_.size()) kinds_.resize(2 * stack + 1);
  if (kinds_[stack] != kUnknown) return kinds_[stack];
  Kind kind = kOther;
  if (!interpreter_.Contains(stack)) {
    const auto [root, frames] = RootOf(stack);
    const Place function =
        PlaceOf(GroupBy::kFunction, index(), {.stack = root});
    // A stack that deep is the program's, whatever its outermost frame.
    const bool cut =
        frames >= kMostFrames || function.function == kDeeperFramesName;
    const bool begins = cut || IsThreadBegin(function);
    if (!has_program_ && !begins) {
      program_ = function;
      has_program_ = true;
    }
    if (begins || function == program_) kind = kProgram;
  }
  return kinds_[stack] = kind;
}

// The results for frames on the way are kept, for other stacks.
HeapExitFinder::Root HeapExitFinder::RootOf(uint32_t stack) {
  std::vector<uint32_t> path;
  Root root = {0, 0};
  for (uint32_t at = stack; at != 0; at = index().ParentStack(at)) {
    if (at < roots_.size() && roots_[at].frames != 0) {
      root = roots_[at];
      break;
    }
    path.push_back(at);
  }
  for (auto at = path.rbegin(); at != path.rend(); ++at) {
    if (root.frames == 0) root.stack = *at;
    ++root.frames;
    if (*at >= roots_.size()) roots_.resize(*at + 1);
    roots_[*at] = root;
  }
  return root;
}

bool SawEnd(const Footer& footer) {
  const bool was_killed = footer.end() == Footer::SIGNAL ||
                          footer.end() == Footer::KILLED_OR_EXITED;
  return footer.end_us() != 0 &&
         (!was_killed || footer.finalize() == Footer::FINALIZED);
}

absl::string_view NameOfEnd(const Footer& footer) {
  return SawEnd(footer) ? "the program's end" : "the last record";
}

// No events are passed on: the model is not needed, and stays empty.
bool HeapExitFinder::OnHeap(const HeapEvent* events, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (!events[i].is_free && KindOf(events[i].stack) == kProgram) {
      last_us_ = events[i].time_us;
    }
  }
  events_ += count;
  return HeapReplay::OnHeap(events, 0);
}

void HeapExitFinder::OnFooter(const Footer& footer) {
  HeapReplay::OnFooter(footer);
  footer_ = footer;
}

// The footer's count of events is the most exact end. Its time comes next:
// several events may have the same microsecond. The last allocation is a guess.
HeapMoment HeapExitFinder::exit() const {
  HeapMoment exit = {HeapMoment::kEnd};
  exit.name = std::string(NameOfEnd(footer_));
  switch (footer_.finalize()) {
    case Footer::FINALIZED:
      exit.kind = HeapMoment::kTime;
      exit.time_us = footer_.finalize_us();
      // If a file lacks some events, the count would include others.
      if (footer_.has_finalize_heap_events() &&
          events_ == footer_.heap_allocations() + footer_.heap_frees()) {
        exit.kind = HeapMoment::kEvents;
        exit.events = footer_.finalize_heap_events();
      }
      return exit;
    case Footer::NOT_FINALIZED:
      return exit;
    default:
      break;
  }
  if (last_us_ == kEnd) return exit;
  exit.kind = HeapMoment::kTime;
  exit.time_us = last_us_;
  return exit;
}

}  // namespace pymemrun
