// What the items of the second wire say, and how. side_ring_layout.h has the
// whole.
#ifndef PYMEMRUN_TRACER_WIRE_SIDE_KINDS_H_
#define PYMEMRUN_TRACER_WIRE_SIDE_KINDS_H_

#include <cstddef>
#include <cstdint>

namespace pymemrun {

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
  // Of the GIL at `address`. time_ns is a time stamp.
  kGil = 12,       // flags = GilNote; of who had taken it last before: more =
                   // GilHold::free_since, extra = paused, frame = pauses
  kGilStack = 13,  // after a long wait; detail = frames (low half), GilRole
                   // (high half); more = the event ring's id of the C function
                   // that was called last, 0: none
  // Of the task at `address`. time_ns is a time stamp.
  kTask = 14,        // it is called so; more = its coroutine's address, extra =
                     // TaskKind, detail = frames (low half), the name's bytes
                     // (high half), which are the payload behind the frames
  kTaskStep = 15,    // detail = frames (low half), TaskNote (high half); more =
                     // when it began, extra = what RSS changed by
  kFileMapped = 16,  // address, more = bytes; detail = the name's bytes, the
                     // payload; 0: it was mapped at `extra`, and moves
  kFileFound = 17,   // what was resident at address, more = bytes, before a
                     // call gives it back; extra = RSS then, in bytes
};

inline constexpr SideKind kLastSideKind = SideKind::kFileFound;
inline constexpr size_t kSideKinds = static_cast<size_t>(kLastSideKind) + 1;

// As GilAction in gil.proto.
enum class GilNote : uint16_t {
  kTaken = 0,
  kWaiting = 1,
  kGivingWay = 2,  // says nothing of who had taken it, as the next
  kGaveWay = 3,
  // Of a free-threaded interpreter: SideHead::more is the Linux id of the
  // thread that ended the wait, 0: not known.
  kLockWaiting = 8,
  kLockTaken = 9,
  kStandsStill = 10,
  kGoesOn = 11,
  kStopsOthers = 12,
  kOthersStopped = 13,
};
inline constexpr GilNote kLastGilNote = GilNote::kGaveWay;
inline constexpr GilNote kFirstLockNote = GilNote::kLockWaiting;
inline constexpr GilNote kLastLockNote = GilNote::kOthersStopped;
enum class GilRole : uint16_t { kWaiter = 1, kHolder = 2 };

// Whose an item is; what is lost is counted by it.
enum class SideParty : uint32_t {
  kPages = 0,
  kHeap = 1,
  kEither = 2,  // a definition, or not known
  kGil = 3,
  kTasks = 4,
};
inline constexpr uint32_t kSideParties = 5;

constexpr SideParty PartyOf(SideKind kind) {
  switch (kind) {
    case SideKind::kTouch:
    case SideKind::kRange:
    case SideKind::kFork:
    case SideKind::kFileMapped:
    case SideKind::kFileFound:
      return SideParty::kPages;
    case SideKind::kAlloc:
    case SideKind::kFree:
    case SideKind::kUnmap:
    case SideKind::kHeapRates:
    case SideKind::kFinalize:
      return SideParty::kHeap;
    case SideKind::kGil:
    case SideKind::kGilStack:
      return SideParty::kGil;
    case SideKind::kTask:
    case SideKind::kTaskStep:
      return SideParty::kTasks;
    default:
      return SideParty::kEither;
  }
}

// Whether its items carry the stack of their thread.
constexpr bool HasStack(SideKind kind) {
  return kind == SideKind::kTouch || kind == SideKind::kRange ||
         kind == SideKind::kAlloc || kind == SideKind::kGilStack ||
         kind == SideKind::kTask || kind == SideKind::kTaskStep;
}

// As PageAction in pages.proto.
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

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_WIRE_SIDE_KINDS_H_
