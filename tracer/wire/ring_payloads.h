// Payloads of definitions and facts in the event ring. tsc fields are time
// stamps (StartFacts::time_is_tsc). ring_layout.h describes the whole wire.
#ifndef PYMEMRUN_TRACER_WIRE_RING_PAYLOADS_H_
#define PYMEMRUN_TRACER_WIRE_RING_PAYLOADS_H_

#include <cstdint>

#include "tracer/wire/gauge_source.h"
#include "tracer/wire/ring_slots.h"

namespace pymemrun {

struct FunctionPayload {
  uint32_t makes_bound_object;  // 1: a method; profiling binds it to its object
};
static_assert(sizeof(FunctionPayload) == 4);

// Format of co_linetable or co_lnotab, by CPython version.
enum class LineTableKind : uint32_t {
  kLnotab = 1,     // 3.9: pairs (byte delta, line delta)
  kPep626 = 2,     // 3.10: pairs, -128 = no line
  kLocations = 3,  // 3.11 on: location entries
};

struct ThreadPayload {
  uint64_t native_id;
  uint64_t tsc;
  uint32_t renamed;  // its id under its previous name; 0: it had none
  uint32_t unused;
};
static_assert(sizeof(ThreadPayload) == 24);

// Code id in a stack node that stands for the frames that a cut stack lacks.
inline constexpr uint32_t kDeeperFrames = kIdMask;

struct StackPayload {  // one node of the call tree
  uint32_t parent;     // stack id, 0 = the root
  uint32_t code;
  uint32_t position;
  uint32_t unused;
};
static_assert(sizeof(StackPayload) == 16);

struct MarkPayload {
  uint64_t next_number;  // number that the next event will have
  uint64_t tsc;
  uint64_t rss_pages;
  uint32_t thread;
  uint32_t unused;
};
static_assert(sizeof(MarkPayload) == 32);

// A span in which a thread's profile slot belonged to the script, so events are
// missing.
struct GapPayload {
  uint64_t from_number;  // number of the next event, process wide, at the start
  uint64_t to_number;    // the same at the end
  uint64_t from_tsc;
  uint64_t to_tsc;
  uint32_t thread;
  uint32_t unused;
};
static_assert(sizeof(GapPayload) == 40);

// Rows that were dropped because the ring was full.
struct LossPayload {
  uint64_t rows;         // lost since the previous kLoss
  uint64_t from_number;  // numbers of the first and the last one lost
  uint64_t to_number;
  uint64_t tsc;
};
static_assert(sizeof(LossPayload) == 32);

// VmHWM exceeded every RSS seen at an event: the peak was between two events.
struct PeakPayload {
  uint64_t hwm_pages;
  uint64_t after_number;   // last event before VmHWM rose
  uint64_t before_number;  // first event after it, or next_number at a stop
  uint64_t tsc;
};
static_assert(sizeof(PeakPayload) == 32);

// The RSS source in use changed (for instance because perf stopped).
struct GaugePayload {
  uint64_t number;
  uint64_t tsc;
  GaugeSource source;
  GaugeSource old_source;
};
static_assert(sizeof(GaugePayload) == 24);

// A span in which tracing was off; see trace.proto.
struct PausePayload {
  uint64_t next_number;
  uint64_t from_tsc;
  uint64_t to_tsc;
  uint32_t from_rss_pages;
  uint32_t to_rss_pages;
};
static_assert(sizeof(PausePayload) == 32);

// A dump was written, or failed: the text `problem` then has the reason.
struct ObjectsPayload {
  uint64_t monotonic_ns;  // of the fork
  uint64_t pause_us;
  uint64_t duration_us;
  uint64_t file_bytes;
  uint64_t objects;
  uint64_t references;
  uint32_t reason;  // ObjectsReason of trace.proto
  uint32_t unused;
};
static_assert(sizeof(ObjectsPayload) == 56);

// A dump ordered by another process was started, or could not be.
struct ObjectsUnderWayPayload {
  uint64_t monotonic_ns;  // of the fork
  uint64_t pause_us;
};
static_assert(sizeof(ObjectsUnderWayPayload) == 16);

// A run of Python's cycle collector.
struct GcRunPayload {
  uint64_t next_number;  // as in a MarkPayload
  uint64_t from_tsc;
  uint64_t to_tsc;
  uint64_t collected;  // objects
  uint64_t uncollectable;
  uint32_t thread;
  uint32_t generation;
  uint32_t stack;  // id, 0: not known
  uint32_t unused;
};
static_assert(sizeof(GcRunPayload) == 56);

// A value of a user's counter.
struct CounterPayload {
  uint64_t tsc;
  uint64_t bits;  // an int64_t, or a double
  uint32_t thread;
  uint32_t is_real;
};
static_assert(sizeof(CounterPayload) == 24);

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_WIRE_RING_PAYLOADS_H_
