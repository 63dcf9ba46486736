// What --trace counters wants to know of the process besides RSS and times, and
// when. All of it is read from outside: nothing runs in the program for it.
#ifndef PYMEMRUN_COLLECTOR_PROCESS_COUNTER_METER_H_
#define PYMEMRUN_COLLECTOR_PROCESS_COUNTER_METER_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/types/optional.h"
#include "collector/process/pss_meter.h"
#include "format/trace.pb.h"

namespace pymemrun {

// How many file descriptors the traced process has open. Not thread safe.
class DescriptorCount {
 public:
  explicit DescriptorCount(pid_t pid);
  ~DescriptorCount();
  DescriptorCount(const DescriptorCount&) = delete;
  DescriptorCount& operator=(const DescriptorCount&) = delete;

  // Without the one that the gauge keeps for itself. Nothing: it cannot be
  // read.
  absl::optional<uint64_t> Read();

 private:
  bool GaugeHas(const std::string& name) const;
  absl::optional<uint64_t> CountNames();

  const int folder_;
  std::string gauges_;  // the number of the gauge's; empty: none is known
};

// Not thread safe.
class CounterMeter {
 public:
  // `every_ms`: between two samples, 0: none is ever due. `pss` must outlive
  // it.
  CounterMeter(uint64_t every_ms, pid_t pid, PssMeter* pss)
      : every_ns_(every_ms * 1000000), pid_(pid), pss_(pss) {}

  bool is_on() const { return every_ns_ != 0; }
  bool IsDue(uint64_t now_ns) const { return is_on() && now_ns >= next_ns_; }
  // Until a sample is due; 0: it is.
  uint64_t NsUntilDue(uint64_t now_ns) const {
    return now_ns >= next_ns_ ? 0 : next_ns_ - now_ns;
  }

  // Adds descriptors, and PSS where it is time for it: that takes at most half
  // a percent of a CPU.
  void Read(uint64_t now_ns, ProcessSample* sample);
  // The sample due at `now_ns` took `cpu_ns` of a CPU. The next one is due when
  // that is at most half a percent of a CPU, without PSS; on a multiple of
  // `every_ms`, if that leaves time.
  void Took(uint64_t now_ns, uint64_t cpu_ns);
  // What PSS cost in the last sample.
  uint64_t pss_cpu_ns() const { return pss_cpu_ns_; }

 private:
  const uint64_t every_ns_;
  const pid_t pid_;
  PssMeter* const pss_;
  std::unique_ptr<DescriptorCount> descriptors_;  // from the first sample on
  uint64_t next_ns_ = 0;
  uint64_t pss_cpu_ns_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PROCESS_COUNTER_METER_H_
