// What the ring carries of events: rows, and with --heap all heap events.
// ring_layout.h has the whole.
#ifndef PYMEMRUN_TRACER_WIRE_EVENT_SLOTS_H_
#define PYMEMRUN_TRACER_WIRE_EVENT_SLOTS_H_

#include <cstdint>

namespace pymemrun {

inline constexpr uint32_t kRingSlotBytes = 16;

// The kinds of event, numbered as stored. The CPython names are
// PyTrace_CALL, _RETURN, _C_CALL, _C_RETURN, _C_EXCEPTION.
enum class EventWhat : uint32_t {
  kCall = 0,
  kReturn = 1,
  kCCall = 2,
  kCReturn = 3,
  kCExcept = 4,
};

// w0 of any slot: what(3 bits, from bit 29) | context(1, bit 28) | id (28).
inline constexpr uint32_t kWhatShift = 29;
inline constexpr uint32_t kControlWhat = 5;  // `what` of state and definitions
inline constexpr uint32_t kContextBit = 1u << 28;  // row is a PREV
inline constexpr uint32_t kIdMask = kContextBit - 1;

// A row. `code` is the id of the executing (for C events: the calling) Python
// frame's code object, `position` its instruction offset in code units,
// `function` the id of the C function, 0 for Python events.
struct EventSlot {
  uint32_t what_and_code;
  uint32_t position;
  uint32_t function;
  uint32_t tsc_low;  // low half of the time stamp; kClock resets the high half
};
static_assert(sizeof(EventSlot) == kRingSlotBytes);

// A number that takes two words of a slot.
inline uint64_t Wide(uint32_t low, uint32_t high) {
  return static_cast<uint64_t>(high) << 32 | low;
}

// With --heap all: an allocation or a free that was seen under the GIL. Its
// thread is kThread's; its time the last row's or kClock's, which is there at
// least each few events. A realloc is a free with kHeapTentative, from before
// it, and after it as the next heap slot an allocation; or, where it failed, a
// free of the same address with kHeapKept: there was no free.
//
// What has no GIL goes through the side ring, and malloc may give it the
// addresses that are freed here, and the other way round. So its items name the
// slot that they come before: `head` as it was after the allocation, or before
// the free.
struct HeapSlot {
  uint32_t what_and_stack;  // of an allocation: stack id, 0: no Python frame
  uint32_t size;            // low half; kHeapSize before it has the high one
  uint32_t address_low;
  uint32_t address_high;  // bits 32 to 47; AllocatorKind; the flags below
};
static_assert(sizeof(HeapSlot) == kRingSlotBytes);
inline constexpr uint32_t kAllocWhat = 6;
inline constexpr uint32_t kFreeWhat = 7;
inline constexpr uint32_t kHeapAllocatorShift = 16;  // AllocatorKind, 4 bits
inline constexpr uint32_t kHeapAllocatorMask = 15;
inline constexpr uint32_t kHeapTracing = 1u << 20;  // made by tracing itself
inline constexpr uint32_t kHeapTentative = 1u << 21;
inline constexpr uint32_t kHeapKept = 1u << 22;

// What a block was asked of, as in trace.proto.
enum class AllocatorKind : uint32_t {
  kObj = 0,
  kMem = 1,
  kRaw = 2,
  kMalloc = 3,
  kMmap = 4,
  kMremap = 5,
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_WIRE_EVENT_SLOTS_H_
