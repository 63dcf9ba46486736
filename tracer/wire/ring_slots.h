// What the ring carries of events: rows, and with --heap all heap events.
// ring_layout.h has the whole.
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

// What the ring carries besides rows: state, definitions and facts.

// State and definition slots: w0 = kControlWhat << kWhatShift | ControlKind.
struct ControlSlot {
  uint32_t what_and_kind;
  uint32_t w1;
  uint32_t w2;
  uint32_t w3;
};
static_assert(sizeof(ControlSlot) == kRingSlotBytes);

enum class ControlKind : uint32_t {
  // State. A row's number is the previous row's + 1 unless kNumber came; its
  // dRSS is 0 and its RSS the previous row's unless kRss came; its time is the
  // previous time + (tsc_low - previous tsc_low mod 2^32) unless kClock came.
  kThread = 1,    // w1 = thread id of the rows from here on
  kNumber = 2,    // w2:w1 = number of the next row (w2 high half)
  kRss = 3,       // w1 = RSS in pages, w2 = dRSS in pages (signed) of the next
                  // row, w3 = flags (kRssInexact: of this and all rows until
                  // the next kRss)
  kClock = 4,     // w2:w1 = full time stamp that the next tsc_low is taken from
  kStack = 5,     // w1 = stack id of the next row
  kHeapSize = 6,  // w1 = high half of the next allocation's size
  // Of the next row, a RETURN: w2:w1 = how many events before it its CALL was,
  // w3 = RSS in pages less RSS there (signed). Then, w2:w1 = the time stamp of
  // that CALL.
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
  // A payload larger than kMaxChunkBytes is sent in pieces: every piece but the
  // last as kChunk, the last under its own kind; the payload is their sum.
  kChunk = 48,
};

// The collector keeps what is defined until it is told to forget it. So between
// two kForget of code objects there are at most so many definitions, and before
// the last one less than so many bytes of names and line tables; of C functions
// at most so many definitions.
inline constexpr uint32_t kMaxCodes = 49152;
inline constexpr size_t kMaxCodeTextBytes = size_t{8} << 20;
inline constexpr uint32_t kMaxFunctions = 65536;

inline constexpr uint32_t kMaxChunkBytes = 64 * 1024;
inline constexpr uint32_t kRssInexact = 1;

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_WIRE_RING_SLOTS_H_
