// How the collector orders an object dump: it stores an order in the reply
// page, then sends a signal. ring_layout.h describes the whole wire.
#ifndef PYMEMRUN_TRACER_WIRE_DUMP_ORDER_H_
#define PYMEMRUN_TRACER_WIRE_DUMP_ORDER_H_

#include <atomic>
#include <cstdint>

namespace pymemrun {

// Reason for a dump, numbered as ObjectsReason in objects.proto.
enum class DumpReason : uint32_t {
  kAsked = 0,
  kAtExit = 1,
  kAtPeak = 2,
  kEvery = 3,
  kRssAbove = 4,
  kSignal = 5,
  kOutside = 6,
};

// The signal that announces an order: the first real-time signal. libc reserves
// it for pthread_cancel and for the threads of timer_create, and sends it to
// threads only. libc hides it from programs: they cannot handle, block or wait
// for it.
inline constexpr int kDumpSignal = 32;

// An order has a counter in its upper 24 bits and the reason in its lower 8
// bits. 0 means that there was no order yet.
constexpr uint32_t NextDumpOrder(uint32_t order, DumpReason reason) {
  return ((order >> 8) + 1) << 8 | static_cast<uint32_t>(reason);
}
constexpr DumpReason ReasonOfOrder(uint32_t order) {
  return static_cast<DumpReason>(order & 0xff);
}

// Whether the program accepts orders.
enum class TakesDumps : uint32_t {
  kNotKnown = 0,  // tracing has not started
  kYes = 1,
  kNo = 2,  // objects of its Python cannot be dumped
};

// Answers of the traced process, in the control page. The last three hold
// orders.
struct DumpAnswers {
  std::atomic<uint32_t> takes;  // TakesDumps
  std::atomic<uint32_t> heard;  // last order whose signal arrived
  std::atomic<uint32_t> waits;  // order that waits for a running dump
  std::atomic<uint32_t> taken;  // last order that was done or refused
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_WIRE_DUMP_ORDER_H_
