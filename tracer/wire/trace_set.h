// The set of kinds of event that a run records.
#ifndef PYMEMRUN_TRACER_WIRE_TRACE_SET_H_
#define PYMEMRUN_TRACER_WIRE_TRACE_SET_H_

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace pymemrun {

// Bit `1 << kind` of a set.
enum class Trace : uint32_t {
  kCalls = 0,     // profile events
  kPages = 1,     // page faults
  kGil = 2,       // who holds the GIL, and who waits
  kCounters = 3,  // pymemrun.counter(), and runs of gc
  kStates = 4,    // states of threads
  kTasks = 5,     // steps of tasks
  kHeap = 6,      // allocations
};
// Names of the first six kinds in --trace. The heap has its own option.
inline constexpr std::string_view kTraceWords[] = {
    "calls", "pages", "gil", "counters", "states", "tasks"};

class TraceSet {
 public:
  constexpr TraceSet() = default;
  constexpr explicit TraceSet(uint32_t bits) : bits_(bits) {}
  constexpr TraceSet(std::initializer_list<Trace> kinds) {
    for (const Trace kind : kinds) Set(kind);
  }

  constexpr bool has(Trace kind) const { return (bits_ & Bit(kind)) != 0; }
  constexpr bool has_any(TraceSet of) const { return (bits_ & of.bits_) != 0; }
  constexpr void Set(Trace kind, bool on = true) {
    bits_ = on ? bits_ | Bit(kind) : bits_ & ~Bit(kind);
  }

 private:
  static constexpr uint32_t Bit(Trace kind) {
    return 1u << static_cast<uint32_t>(kind);
  }

  uint32_t bits_ = 0;
};

// Kinds whose events use the side ring.
inline constexpr TraceSet kSideTraces = {Trace::kPages, Trace::kGil,
                                         Trace::kTasks, Trace::kHeap};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_WIRE_TRACE_SET_H_
