// How many file descriptors the traced process has open.
#ifndef PYMEMRUN_COLLECTOR_PROCESS_DESCRIPTOR_COUNT_H_
#define PYMEMRUN_COLLECTOR_PROCESS_DESCRIPTOR_COUNT_H_

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "absl/types/optional.h"

namespace pymemrun {

// Not thread safe.
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

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PROCESS_DESCRIPTOR_COUNT_H_
