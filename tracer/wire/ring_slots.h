// Slots of the event ring: rows, heap events (with --heap all), state and
// definitions. ring_layout.h describes the whole wire.
#ifndef PYMEMRUN_TRACER_WIRE_RING_SLOTS_H_
#define PYMEMRUN_TRACER_WIRE_RING_SLOTS_H_

#include <cstddef>
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

// Joins the two halves of a number that takes two words of a slot.
inline uint64_t Wide(uint32_t low, uint32_t high) {
  return static_cast<uint64_t>(high) << 32 | low;
}

// An allocation or a free seen under the GIL, with --heap all. Its thread is
// that of the last kThread. Its time is that of the last row or kClock, at most
// a few events ago.
//
// A realloc is two slots: before it a free with kHeapTentative, after it an
// allocation. If the realloc failed, the second slot is a free of the same
// address with kHeapKept: nothing was freed.
//
// Events without the GIL go through the side ring. malloc may reuse there an
// address that was freed here, and vice versa. So each side item names its
// place in this ring: `head` after its allocation, or before its free.
struct HeapSlot {
  uint32_t what_and_stack;  // stack id of an allocation; 0: no Python frame
  uint32_t size;            // low half; the high half is in kHeapSize before it
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

// Allocator that was called for a block, numbered as in heap.proto.
enum class AllocatorKind : uint32_t {
  kObj = 0,
  kMem = 1,
  kRaw = 2,
  kMalloc = 3,
  kMmap = 4,
  kMremap = 5,
};

// State and definition slots: w0 = kControlWhat << kWhatShift | ControlKind.
struct ControlSlot {
  uint32_t what_and_kind;
  uint32_t w1;
  uint32_t w2;
  uint32_t w3;
};
static_assert(sizeof(ControlSlot) == kRingSlotBytes);

enum class ControlKind : uint32_t {
  // State of the rows that follow. Without kNumber, a row's number is the
  // previous one + 1. Without kRss, its RSS is unchanged and its dRSS 0.
  // Without kClock, its time is the previous time + (tsc_low - previous tsc_low
  // mod 2^32).
  kThread = 1,    // w1 = thread id of the rows from here on
  kNumber = 2,    // w2:w1 = number of the next row (w2 high half)
  kRss = 3,       // w1 = RSS in pages, w2 = dRSS in pages (signed) of the next
                  // row, w3 = flags (kRssInexact: of this and all rows until
                  // the next kRss)
  kClock = 4,     // w2:w1 = full time stamp that the next tsc_low is taken from
  kStack = 5,     // w1 = stack id of the next row
  kHeapSize = 6,  // w1 = high half of the next allocation's size
  // The CALL of the next row, a RETURN. kCall: w2:w1 = number of events since
  // that CALL, w3 = change of RSS in pages since then (signed). kCallClock:
  // w2:w1 = time stamp of that CALL.
  kCall = 7,
  kCallClock = 8,
  // Definitions: w1 = payload bytes, w2 = id, w3 = kind-specific.
  // Payload strings are each `u32 length` + bytes, unaligned.
  kCode = 16,       // CodePayload, file, name, qualname, module, line table
  kFunction = 17,   // FunctionPayload, qualname, module
  kThreadDef = 18,  // ThreadPayload, name
  kStackDef = 19,   // w1 = 16: StackPayload; w2 = id
  // Facts, in order with the rows around them. Same shape as definitions.
  kMark = 32,         // MarkPayload, label
  kProfilerGap = 33,  // GapPayload
  kLoss = 34,         // LossPayload
  kPeak = 35,         // PeakPayload
  kGauge = 36,        // GaugePayload, reason
  kForget =
      37,       // w1 = 0, w3 = ControlKind: all ids of that definition kind are
                // void from here on and will be defined anew
  kPause = 38,  // PausePayload
  kOutput = 39,   // the run file's path: the script has given it another
  kObjects = 40,  // ObjectsPayload, file, problem: a dump of the object graph
  kGcRun = 41,    // GcRunPayload
  kCounter = 42,  // CounterPayload, name
  kObjectsUnderWay = 43,  // ObjectsUnderWayPayload, path, problem
  // A payload larger than kMaxChunkBytes is sent in pieces. All pieces but the
  // last are kChunk, and the last has the kind of the payload.
  kChunk = 48,
};

// Limits on what the collector must remember between two kForget of the same
// kind: code objects, bytes of their names and line tables, and C functions.
inline constexpr uint32_t kMaxCodes = 49152;
inline constexpr size_t kMaxCodeTextBytes = size_t{8} << 20;
inline constexpr uint32_t kMaxFunctions = 65536;

inline constexpr uint32_t kMaxChunkBytes = 64 * 1024;
inline constexpr uint32_t kRssInexact = 1;

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_WIRE_RING_SLOTS_H_
