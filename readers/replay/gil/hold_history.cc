#include "readers/replay/gil/hold_history.h"

#include <algorithm>

namespace pymemrun {

uint64_t HoldHistory::EachIn(
    uint64_t begin, uint64_t end, uint64_t paused_ns,
    absl::FunctionRef<void(const GilSpan&, uint64_t)> take) const {
  for (uint64_t i = next_; i > 0 && next_ - i < kMost; --i) {
    const GilSpan& span = spans_[(i - 1) % kMost];
    if (span.end_ns <= begin) return 0;
    const uint64_t from = std::max(begin, span.begin_ns);
    const uint64_t to = std::min(end, span.end_ns);
    if (to > from) {
      uint64_t paused = span.paused_ns;
      if (span.begin_ns < begin) paused -= std::min(paused, paused_ns);
      take(span, to - from - std::min(to - from, paused));
    }
    if (span.begin_ns <= begin) return 0;
    if (next_ - i + 1 == kMost || i == 1) {
      // Before the first hold of all nobody had it.
      return i == 1 ? 0 : std::min(end, span.begin_ns) - begin;
    }
  }
  return 0;
}

}  // namespace pymemrun
