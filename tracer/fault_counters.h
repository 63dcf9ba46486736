// Page-fault counters of this process, one per CPU, read without a system call.
#ifndef PYMEMRUN_TRACER_FAULT_COUNTERS_H_
#define PYMEMRUN_TRACER_FAULT_COUNTERS_H_

#include <cstddef>
#include <cstdint>

namespace pymemrun {

struct FaultCounters {
  // Heads of the counters' rings; each grows by 8 with a page fault on its CPU
  // of any thread that existed at the start or descends from one that did.
  const volatile uint64_t* heads[64];
  uint32_t count;
  bool user_only;  // faults that the kernel takes on our behalf do not count
  size_t mapped_bytes;
};

// Opens one counter per CPU. Must run before the first thread is made: only
// later threads inherit. The descriptors are closed again; the mappings keep
// the counters alive and are not inherited by a fork. Returns 0, or an errno.
int OpenFaultCounters(FaultCounters* counters);

// Unmaps them.
void CloseFaultCounters(FaultCounters* counters);

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_FAULT_COUNTERS_H_
