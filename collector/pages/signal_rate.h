// How many page faults send a signal: each, while they are few; when they come
// so fast that their signals would slow the program by more than some 2 %, one
// in several.
#ifndef PYMEMRUN_COLLECTOR_PAGES_SIGNAL_RATE_H_
#define PYMEMRUN_COLLECTOR_PAGES_SIGNAL_RATE_H_

#include <cstddef>
#include <cstdint>

namespace pymemrun {

// Not thread safe.
class SignalRate {
 public:
  // The perf events from `first_fd` on: `count` that signal each fault, then as
  // many that signal one in several. With count 0 there is no choice. If one
  // page in `weight` is recorded, a signal is worth less by this factor, and
  // there are fewer of them.
  SignalRate(int first_fd, uint32_t count, uint32_t weight)
      : first_fd_(first_fd), count_(count), weight_(weight) {}

  // To be told now and then how many faults there were since it was told last.
  // Not before the traced process has started: as it does, it enables all.
  void Update(uint64_t now_ns, size_t faults);

 private:
  enum class Which { kUnknown, kEach, kSome };

  void Choose(Which which);

  const int first_fd_;
  const uint32_t count_;
  const uint32_t weight_;
  Which chosen_ = Which::kUnknown;
  uint64_t since_ns_ = 0;
  uint64_t faults_ = 0;        // since then
  uint64_t few_since_ns_ = 0;  // there have not been many
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PAGES_SIGNAL_RATE_H_
