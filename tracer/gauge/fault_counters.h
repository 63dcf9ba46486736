// Page-fault counters of this process, one per CPU, read without a system call.
#ifndef PYMEMRUN_TRACER_GAUGE_FAULT_COUNTERS_H_
#define PYMEMRUN_TRACER_GAUGE_FAULT_COUNTERS_H_

#include <cstddef>
#include <cstdint>

namespace pymemrun {

// A counter's head grows by so much with each fault.
inline constexpr uint64_t kHeadStep = 8;

struct FaultCounters {
  static constexpr uint32_t kMost = 64;

  // Heads of the counters' rings; each grows by kHeadStep with a page fault on
  // its CPU of any thread that existed at the start or descends from one that
  // did. A fault counts before its page does.
  const volatile uint64_t* heads[kMost];
  uint16_t cpus[kMost];
  uint32_t count;
  bool user_only;  // faults that the kernel takes on our behalf do not count
  // Where they are mapped, one after another.
  uintptr_t begin;
  uintptr_t end;
};

// Opens one counter for each CPU that is online. Must run before the first
// thread is made: only later threads inherit. The descriptors are closed again;
// the mappings keep the counters alive and are not inherited by a fork. Returns
// true, or false with what failed and why in `reason` (at most `size` bytes,
// NUL-terminated).
bool OpenFaultCounters(FaultCounters* counters, char* reason, size_t size);

// Whether a fault of the calling thread shows: takes one, in a page of its own.
// Not so on a CPU that was offline at the start, or when somebody has stopped
// the counters; then `reason` says which.
bool FaultCountersWork(const FaultCounters& counters, char* reason,
                       size_t size);

// Unmaps them.
void CloseFaultCounters(FaultCounters* counters);

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_GAUGE_FAULT_COUNTERS_H_
