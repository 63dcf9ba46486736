// Page-fault counters of this process, one per CPU, read without a system call.
#ifndef PYMEMRUN_TRACER_GAUGE_FAULT_COUNTERS_H_
#define PYMEMRUN_TRACER_GAUGE_FAULT_COUNTERS_H_

#include <cstddef>
#include <cstdint>

namespace pymemrun {

// The head of a counter grows by this much with each fault.
inline constexpr uint64_t kHeadStep = 8;

struct FaultCounters {
  static constexpr uint32_t kMost = 64;

  // Heads of the perf rings. Each grows by kHeadStep with a page fault on its
  // CPU, of any thread that existed at the start or descends from one. A fault
  // is counted before its page is.
  const volatile uint64_t* heads[kMost];
  uint16_t cpus[kMost];
  uint32_t count;
  bool user_only;  // faults inside system calls do not count
  // Addresses of the mappings, which are contiguous.
  uintptr_t begin;
  uintptr_t end;
};

// Opens a counter for each online CPU. Must run before the first thread is
// started, as only later threads inherit. Closes the descriptors again; the
// mappings keep the counters alive and are not inherited by a fork. Returns
// false with what failed and why in `reason` (at most `size` bytes, ends with
// NUL).
bool OpenFaultCounters(FaultCounters* counters, char* reason, size_t size);

// Returns whether a fault of the calling thread is counted: takes one, in a
// separate page. It is not on a CPU that was offline at the start, or after
// another process stopped the counters; `reason` then says which.
bool FaultCountersWork(const FaultCounters& counters, char* reason,
                       size_t size);

// Unmaps the counters.
void CloseFaultCounters(FaultCounters* counters);

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_GAUGE_FAULT_COUNTERS_H_
