// What slow halves keep between events, in HotState.
#ifndef PYMEMRUN_TRACER_BASE_SLOW_STATE_H_
#define PYMEMRUN_TRACER_BASE_SLOW_STATE_H_

#include <cstddef>
#include <cstdint>

namespace pymemrun {

class CodeRegistry;
class CurrentStack;
class EventLog;
class RssGauge;
class ThreadRegistry;

// The session's parts, for hooks that are called without a context. Null in a
// forked child.
struct HookParts {
  EventLog* log;
  CodeRegistry* codes;
  CurrentStack* stacks;
  ThreadRegistry* threads;
  RssGauge* gauge;
};

// Writes one line for the user, if there is still somebody to read it. Async
// signal safe; allocates nothing.
using SayFunction = void (*)(const char* line, size_t size);

// A full ring, as its slow half knows it.
struct RingStall {
  SayFunction say;  // how the user is told; null: not at all
  bool gave_up;     // a wait timed out: do not wait again until there is room
  bool said;        // the one line was written
  bool was_silent;  // a wait has timed out, for room or for an answer
  uint32_t beat;    // the collector's heartbeat then
};

// Rows dropped since the collector was last told.
struct RowLoss {
  uint64_t rows;
  uint64_t from;
  uint64_t to;
};

// The stack found last: see CurrentStack.
struct LastStack {
  const void* frame;  // marked as one that runs, or null
  uint64_t state;
  const void* instruction;
  uint32_t stack;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_BASE_SLOW_STATE_H_
