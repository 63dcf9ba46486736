#include "collector/process/counter_meter.h"

#include <algorithm>

#include "absl/types/optional.h"
#include "collector/process/monotonic_clock.h"

namespace pymemrun {
namespace {

constexpr uint64_t kCostFactor = 200;

}  // namespace

void CounterMeter::Read(uint64_t now_ns, ProcessSample* sample) {
  sample->set_counted(true);
  if (descriptors_ == nullptr) {
    descriptors_ = std::make_unique<DescriptorCount>(pid_);
  }
  const absl::optional<uint64_t> open = descriptors_->Read();
  if (open.has_value()) sample->set_descriptors(*open + 1);
  const uint64_t begin_ns = ThreadCpuNs();
  const ProportionalSet set = pss_->Read(now_ns);
  pss_cpu_ns_ = ThreadCpuNs() - begin_ns;
  if (set.pss_bytes == 0) return;
  sample->set_pss_bytes(set.pss_bytes);
  sample->set_pss_rss_bytes(set.rss_bytes);
}

void CounterMeter::Took(uint64_t now_ns, uint64_t cpu_ns) {
  const uint64_t own_ns = cpu_ns - std::min(cpu_ns, pss_cpu_ns_);
  const uint64_t due_ns = next_ns_ == 0 ? now_ns : next_ns_;
  const uint64_t beat_ns = due_ns + every_ns_;
  // Beats that were missed are not made up for.
  next_ns_ = std::max(beat_ns > now_ns ? beat_ns : now_ns + every_ns_,
                      now_ns + kCostFactor * own_ns);
}

}  // namespace pymemrun
