// What SideKind::kTask names.
#ifndef PYMEMRUN_TRACER_WIRE_TASK_KINDS_H_
#define PYMEMRUN_TRACER_WIRE_TASK_KINDS_H_

#include <cstdint>

namespace pymemrun {

// As TaskKind in tasks.proto.
enum class SideTaskKind : uint64_t { kTask = 0, kGreenlet = 1 };

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_WIRE_TASK_KINDS_H_
