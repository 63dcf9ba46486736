// How the collector asks the program for a dump of its objects: it states an
// order in the reply page, then sends a signal. ring_layout.h has the whole.
#ifndef PYMEMRUN_TRACER_WIRE_DUMP_ORDER_H_
#define PYMEMRUN_TRACER_WIRE_DUMP_ORDER_H_

#include <atomic>
#include <cstdint>

namespace pymemrun {

// ObjectsReason of objects.proto.
enum class DumpReason : uint32_t {
  kAsked = 0,
  kAtExit = 1,
  kAtPeak = 2,
  kEvery = 3,
  kRssAbove = 4,
  kSignal = 5,
  kOutside = 6,
};

// The first real-time signal, which libc keeps for itself: it shows programs
// nothing of it, and lets them neither take, block nor wait for it. Its own use
// is pthread_cancel, and the threads of timer_create, which it sends to
// threads.
inline constexpr int kDumpSignal = 32;

// An order is a number that counts up, and below it the reason; 0: none yet.
constexpr uint32_t NextDumpOrder(uint32_t order, DumpReason reason) {
  return ((order >> 8) + 1) << 8 | static_cast<uint32_t>(reason);
}
constexpr DumpReason ReasonOfOrder(uint32_t order) {
  return static_cast<DumpReason>(order & 0xff);
}

// What the program says of orders.
enum class TakesDumps : uint32_t {
  kNotKnown = 0,  // tracing has not begun
  kYes = 1,
  kNo = 2,  // objects of its Python cannot be dumped
};

// In the control page.
struct DumpAnswers {
  std::atomic<uint32_t> takes;  // TakesDumps
  std::atomic<uint32_t> heard;  // the order whose signal came last
  std::atomic<uint32_t> waits;  // ...that waits for a dump under way
  std::atomic<uint32_t> taken;  // ...that was last made, or refused
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_WIRE_DUMP_ORDER_H_
