// The second wire to the collector: what comes from signal handlers and from
// interposed calls, on any thread, with or without the GIL. It lies behind the
// event ring in the same region, and is touched only when something uses it.
//
//   side ring := kSideCells cells of 64 bytes, used circularly
//   item      := a head cell, then cells that continue it
//
// Producers reserve cells by moving ControlPage::side_head with compare-and-
// swap, mark the item as begun, fill the cells, and commit them from the last
// to the first, each by its `sequence`: index + 1, stored with release. So a
// cell whose sequence is not its own is not there yet. The mark is kSideBegun
// in the head's sequence; the head then says what the item will be and whose.
// The collector waits for the item while that thread lives, for instance in a
// call that unmaps gigabytes. It waits a minute at most, because a signal's
// handler may have left that call by a jump. An item that never comes is passed
// over after a time, up to the next head. The collector moves
// ReplyPage::side_tail.
#ifndef PYMEMRUN_TRACER_WIRE_SIDE_RING_LAYOUT_H_
#define PYMEMRUN_TRACER_WIRE_SIDE_RING_LAYOUT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace pymemrun {

inline constexpr uint32_t kSideCells = 1u << 15;
inline constexpr size_t kSideCellBytes = 64;
inline constexpr size_t kSideRingBytes = kSideCells * kSideCellBytes;  // 2 MiB

enum class SideKind : uint16_t {
  kContinued = 0,  // not a head
  kTouch = 1,      // a page fault was signalled; address = of the fault, more =
                   // the instruction's address
  kRange = 2,      // pages came, went or moved; address, more = bytes, extra =
                   // new address of kMoved, detail = RangeAction
  kCode = 3,       // definition; address = id, more = the payload's bytes;
                   // the payload is that of ControlKind::kCode
  kCodeGone = 4,   // address = id: it is not used again
  kFork = 5,       // a child was made; address = its number, 0: not known
  kNothing = 6,  // no more than that until its commit nothing behind it counts
  // Heap events. A realloc is a free, then an allocation. extra = index of the
  // slot of the event ring that it comes before, see HeapSlot.
  kAlloc = 7,      // address, more = size; detail = frames (low half),
                   // AllocatorKind (high half)
  kFree = 8,       // address; a head without frames
  kHeapRates = 9,  // how allocations are sampled from here on: more = mean
                   // bytes, detail = number of SideHeapClass in the payload;
                   // kSideAdapted: chosen by what the samples have cost
  kFinalize = 10,  // the interpreter begins to finalise; extra as of kAlloc
  kUnmap = 11,     // a heap event: what C code has mapped at address, more =
                   // bytes, whole pages, is not there any more; with kSideMoves
                   // it is where this thread's next kAlloc of kMremap says
};

inline constexpr SideKind kLastSideKind = SideKind::kUnmap;

// Whose an item is; what is lost is counted by it.
enum class SideParty : uint32_t {
  kPages = 0,
  kHeap = 1,
  kEither = 2,  // a definition, or not known
};
inline constexpr uint32_t kSideParties = 3;

constexpr SideParty PartyOf(SideKind kind) {
  switch (kind) {
    case SideKind::kTouch:
    case SideKind::kRange:
    case SideKind::kFork:
      return SideParty::kPages;
    case SideKind::kAlloc:
    case SideKind::kFree:
    case SideKind::kUnmap:
    case SideKind::kHeapRates:
    case SideKind::kFinalize:
      return SideParty::kHeap;
    default:
      return SideParty::kEither;
  }
}

// Of a head's sequence: the item is begun, not committed. `kind` and `thread`
// are there.
inline constexpr uint64_t kSideBegun = uint64_t{1} << 63;

// As PageAction in trace.proto.
enum class RangeAction : uint32_t {
  kPopulated = 1,
  kUnmapped = 2,
  kDiscarded = 3,
  kMoved = 4,
  kTrimmed = 5,
};

// Bits of SideHead::flags.
inline constexpr uint16_t kSideLate = 1;      // not the stack of the moment
inline constexpr uint16_t kSideCut = 2;       // more frames than fit
inline constexpr uint16_t kSideNoPython = 4;  // the thread has no Python state
inline constexpr uint16_t kSideUnknownFrame = 8;  // a frame could not be read,
                                                  // nor those below it
inline constexpr uint16_t kSideTracing = 16;  // kAlloc: made by tracing itself
inline constexpr uint16_t kSideAdapted = 32;  // kHeapRates
// kAlloc: behind the frames that the head does not hold, 8 bytes: the address
// of the code that called malloc.
inline constexpr uint16_t kSideCaller = 64;
// kTouch: of the same huge page a page far from this one is there too.
inline constexpr uint16_t kSideFarToo = 128;
inline constexpr uint16_t kSideMoves = 256;  // kUnmap
// kTouch: the thread's interpreter collects cycles (gc).
inline constexpr uint16_t kSideCollecting = 512;

// A frame of the stack, the innermost first; kTouch, kRange and kAlloc.
struct SideFrame {
  uint32_t code;      // id of a kCode, 0: not known
  uint32_t position;  // instruction offset in code units
};
static_assert(sizeof(SideFrame) == 8);

inline constexpr uint32_t kSideFramesInHead = 1;
inline constexpr uint32_t kSideFramesInCell = 7;
inline constexpr uint32_t kMaxSideFrames = 512;

struct SideHead {
  std::atomic<uint64_t> sequence;
  SideKind kind;
  uint16_t flags;
  uint32_t cells;    // of the item, this one included
  uint32_t thread;   // Linux thread id
  uint32_t detail;   // kTouch, kRange, kAlloc: number of frames (low half),
                     // RangeAction or AllocatorKind (high half)
  uint64_t time_ns;  // CLOCK_MONOTONIC
  uint64_t address;
  uint64_t more;
  uint64_t extra;
  SideFrame frame;  // the first
};
static_assert(sizeof(SideHead) == kSideCellBytes);

struct SideContinued {
  std::atomic<uint64_t> sequence;
  char payload[kSideCellBytes - 8];  // frames, or bytes of a definition
};
static_assert(sizeof(SideContinued) == kSideCellBytes);
inline constexpr size_t kSidePayloadBytes = sizeof(SideContinued::payload);

// Of a huge page, which has as many pages as a page has words: 2 MiB where
// pages are of 4 KiB, 32 MiB of 16, 512 MiB of 64.
constexpr uint64_t HugePageBytes(uint64_t page_bytes) {
  return page_bytes * (page_bytes / sizeof(uint64_t));
}

inline constexpr uint32_t kNoPosition = 0x7fffffff;

// A code object, in the definitions of both rings.
struct CodePayload {
  uint32_t first_line;
  uint32_t line_table_kind;  // LineTableKind
  // Where a CALL begins a call, for which profiling makes a frame object, and
  // does not resume a generator; kNoPosition: no call makes one.
  uint32_t start_position = kNoPosition;
};
static_assert(sizeof(CodePayload) == 12);

struct SideHeapClass {  // as HeapClass in trace.proto
  uint64_t below_bytes;
  double probability;
};
static_assert(sizeof(SideHeapClass) == 16);

// A definition has at most so many bytes; a longer line table is left out.
inline constexpr size_t kMaxSideDefinition = 256 * 1024;

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_WIRE_SIDE_RING_LAYOUT_H_
