// What the items of tasks say: SideKind::kTask and kTaskStep.
#ifndef PYMEMRUN_TRACER_WIRE_TASK_KINDS_H_
#define PYMEMRUN_TRACER_WIRE_TASK_KINDS_H_

#include <cstdint>

namespace pymemrun {

// As TaskAction in tasks.proto, whose 3 is the collector's own.
enum class TaskNote : uint16_t {
  kWaits = 0,
  kDone = 1,
  kBlocked = 2,
  kRaised = 4,
  kCancelled = 5,
};
constexpr bool IsTaskNote(uint32_t note) {
  return note <= static_cast<uint32_t>(TaskNote::kCancelled) && note != 3;
}
// A thread that is without the GIL for so long within a step is told of.
inline constexpr uint64_t kMinTaskBlockedNs = 1000000;

// As TaskKind in tasks.proto.
enum class SideTaskKind : uint64_t { kTask = 0, kGreenlet = 1 };

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_WIRE_TASK_KINDS_H_
