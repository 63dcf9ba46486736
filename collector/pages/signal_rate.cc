#include "collector/pages/signal_rate.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>

namespace pymemrun {
namespace {

// A signal takes 3 to 4 us: each at this rate takes 2 % of a CPU.
constexpr uint64_t kManyPerSecond = 6000;
constexpr uint64_t kFewPerSecond = 4000;
// The rate is measured over windows of this length.
constexpr uint64_t kWindowNs = 5000000;
// Faults come in bursts. Without this delay the start of each burst would be
// signalled fault by fault.
constexpr uint64_t kCalmNs = 100000000;
constexpr uint64_t kSecondNs = 1000000000;

}  // namespace

// Two thresholds and a delay: a rate between them changes nothing, so the
// choice does not swing.
void SignalRate::Update(uint64_t now_ns, size_t faults) {
  if (count_ == 0) return;
  // The traced process enables both sets of events when it starts.
  if (chosen_ == Which::kUnknown) Choose(Which::kEach);
  if (since_ns_ == 0) since_ns_ = now_ns;
  faults_ += faults;
  const uint64_t elapsed_ns = now_ns - since_ns_;
  if (elapsed_ns < kWindowNs) return;
  const uint64_t rate = faults_ * kSecondNs / elapsed_ns;
  since_ns_ = now_ns;
  faults_ = 0;
  if (rate * weight_ >= kFewPerSecond) few_since_ns_ = now_ns;
  if (rate * weight_ >= kManyPerSecond) {
    Choose(Which::kSome);
  } else if (now_ns - few_since_ns_ >= kCalmNs) {
    Choose(Which::kEach);
  }
}

void SignalRate::Choose(Which which) {
  if (which == chosen_) return;
  chosen_ = which;
  const int each = first_fd_;
  const int some = first_fd_ + static_cast<int>(count_);
  const int on = which == Which::kEach ? each : some;
  const int off = which == Which::kEach ? some : each;
  // In this order: a fault that is signalled twice does no harm.
  for (uint32_t i = 0; i < count_; ++i) {
    ioctl(on + static_cast<int>(i), PERF_EVENT_IOC_ENABLE, 0);
  }
  for (uint32_t i = 0; i < count_; ++i) {
    ioctl(off + static_cast<int>(i), PERF_EVENT_IOC_DISABLE, 0);
  }
}

}  // namespace pymemrun
