// The heads of the second wire's items, a struct for each kind or a few of
// them. Who sends an item fills one in the ring; who takes it reads a copy.
// side_ring_layout.h has the whole.
#ifndef PYMEMRUN_TRACER_WIRE_SIDE_HEADS_H_
#define PYMEMRUN_TRACER_WIRE_SIDE_HEADS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tracer/wire/ring_slots.h"
#include "tracer/wire/side_kinds.h"

namespace pymemrun {

// What the heads of the second wire's items have in common, and the words for
// what those of a GIL and of tasks say.

// What items of kTask and kTaskStep say. As TaskAction in tasks.proto, whose 3
// is the collector's own.
enum class TaskNote : uint16_t {
  kWaits = 0,
  kDone = 1,
  kBlocked = 2,
  kRaised = 4,
  kCancelled = 5,
};
constexpr bool IsTaskNote(uint32_t note) {
  return note <= static_cast<uint32_t>(TaskNote::kCancelled) && note != 3;
}
// A thread that is without the GIL for so long within a step is told of.
inline constexpr uint64_t kMinTaskBlockedNs = 1000000;

// As TaskKind in tasks.proto.
enum class SideTaskKind : uint64_t { kTask = 0, kGreenlet = 1 };

// What items of kGil and kGilStack say. As GilAction in gil.proto; kEnded is
// its GIL_STATE.
enum class GilNote : uint16_t {
  kTaken = 0,
  kWaiting = 1,
  kGivingWay = 2,  // says nothing of who had taken it, as the next
  kGaveWay = 3,
  kEnded = 7,  // the account of a GIL that is no more
  // Of a free-threaded interpreter, as SideLock.
  kLockWaiting = 8,
  kLockTaken = 9,
  kStandsStill = 10,
  kGoesOn = 11,
  kStopsOthers = 12,
  kOthersStopped = 13,
};
constexpr bool IsLockNote(GilNote note) {
  return note >= GilNote::kLockWaiting && note <= GilNote::kOthersStopped;
}
constexpr bool IsGilNote(GilNote note) {
  return note <= GilNote::kGaveWay || note == GilNote::kEnded ||
         IsLockNote(note);
}

enum class GilRole : uint16_t { kWaiter = 1, kHolder = 2 };

inline constexpr size_t kSideCellBytes = 64;

// A frame of a stack, the innermost first. The head has the first of them.
struct SideFrame {
  uint32_t code;      // id of a kCode, 0: not known
  uint32_t position;  // instruction offset in code units
};
static_assert(sizeof(SideFrame) == 8);
inline constexpr uint32_t kSideFramesInHead = 1;
inline constexpr uint32_t kMaxSideFrames = 512;
// Of the frames that the head does not hold: the payload begins with them.
constexpr size_t SideFrameBytes(size_t frames) {
  return frames <= kSideFramesInHead
             ? 0
             : (frames - kSideFramesInHead) * sizeof(SideFrame);
}

// What all heads begin with. `sequence` and `cells` are the ring's own.
struct SideHead {
  uint64_t sequence = 0;  // as SideContinued has it
  SideKind kind = SideKind::kContinued;
  uint16_t flags = 0;    // kSide... of side_kinds.h
  uint32_t cells = 0;    // of the item, this one included
  uint32_t thread = 0;   // Linux thread id
  uint32_t detail = 0;   // with a stack: frames() and what(); else as they say
  uint64_t time_ns = 0;  // CLOCK_MONOTONIC, or a stamp: see HasStamps

  uint32_t frames() const { return detail & 0xffff; }
  uint32_t what() const { return detail >> 16; }
  template <typename What>
  static constexpr uint32_t Detail(size_t frames, What what) {
    return static_cast<uint32_t>(frames) | static_cast<uint32_t>(what) << 16;
  }
  // Bytes of the payload behind the frames.
  uint64_t behind() const { return 0; }
};
static_assert(sizeof(SideHead) == 32 && offsetof(SideHead, flags) == 10 &&
              offsetof(SideHead, cells) == 12 &&
              offsetof(SideHead, thread) == 16 &&
              offsetof(SideHead, detail) == 20 &&
              offsetof(SideHead, time_ns) == 24);

// A head whose kind is not looked at yet.
struct SideAny : SideHead {
  uint64_t words[3] = {};
  SideFrame frame = {};

  template <typename Head>
  Head As() const {
    Head head;
    std::memcpy(static_cast<void*>(&head), this, sizeof(head));
    return head;
  }
};

struct SideTouch : SideHead {  // a page fault was signalled
  uint64_t address = 0, instruction = 0;
  uint64_t unused = 0;
  SideFrame frame = {};
};

// As PageAction in pages.proto.
enum class RangeAction : uint32_t {
  kPopulated = 1,
  kUnmapped = 2,
  kDiscarded = 3,
  kMoved = 4,
  kTrimmed = 5,
};
struct SideRange : SideHead {  // pages came, went or moved; RangeAction what()
  uint64_t address = 0, bytes = 0;
  uint64_t to = 0;  // of kMoved
  SideFrame frame = {};
};

struct SideCode : SideHead {  // a definition, as ControlKind::kCode's
  uint64_t id = 0, bytes = 0;
  uint64_t unused[2] = {};
  uint64_t behind() const { return bytes; }
};
struct SideCodeGone : SideHead {  // the id is not used again
  uint64_t id = 0;
  uint64_t unused[3] = {};
};
struct SideFork : SideHead {  // a child was made
  uint64_t child = 0;         // its number, 0: not known
  uint64_t unused[3] = {};
};

// kAlloc; kFree; kUnmap: what C code has mapped is not there any more, or with
// kSideMoves it is where this thread's next kAlloc of kMremap says; kFinalize:
// the interpreter begins to finalise. A realloc is a free, then an allocation.
struct SideHeapEvent : SideHead {  // kAlloc: AllocatorKind what()
  uint64_t address = 0;
  uint64_t bytes = 0;    // kAlloc; kUnmap: whole pages
  uint64_t index = 0;    // of the event ring's slot that it precedes: HeapSlot
  SideFrame frame = {};  // kAlloc
  uint64_t behind() const {
    return kind == SideKind::kAlloc && (flags & kSideCaller) != 0
               ? sizeof(uint64_t)
               : 0;
  }
};

struct SideHeapClass {  // as HeapClass in heap.proto
  uint64_t below_bytes;
  double probability;
};
static_assert(sizeof(SideHeapClass) == 16);
// How allocations are sampled from here on: with `detail` SideHeapClass as the
// payload. kSideAdapted: chosen by what the samples have cost.
struct SideHeapRates : SideHead {
  uint64_t unused = 0;
  uint64_t mean_bytes = 0;
  uint64_t unused2[2] = {};
  uint64_t behind() const { return uint64_t{detail} * sizeof(SideHeapClass); }
};

// SideGil::detail << kGilKeptShift: for how long before it the thread had been
// kept from running, and could not say so; in units of time stamps.
inline constexpr uint32_t kGilKeptShift = 8;
// flags = GilNote. Of who had taken it last before, as GilHold. kEnded:
// `detail` is the Linux id of the thread that took it last.
struct SideGil : SideHead {
  uint64_t gil = 0;
  uint64_t free_since = 0, paused = 0, pauses = 0;
};
// The same kind, in a free-threaded interpreter.
struct SideLock : SideHead {
  uint64_t gil = 0;
  uint64_t waker = 0;  // Linux id of who ended the wait, 0: not known
  uint64_t unused[2] = {};
};
struct SideGilStack : SideHead {  // after a long wait; GilRole what()
  uint64_t gil = 0;
  uint64_t function = 0;  // the event ring's id of the C function that was
                          // called last, 0: none
  uint64_t unused = 0;
  SideFrame frame = {};
};

struct SideTask : SideHead {         // its name is the payload, of what() bytes
  uint64_t task = 0, coroutine = 0;  // their addresses
  uint64_t task_kind = 0;            // SideTaskKind
  SideFrame frame = {};
  uint64_t behind() const { return what(); }
};
struct SideTaskStep : SideHead {  // it has ended; TaskNote what()
  uint64_t task = 0;
  uint64_t begin = 0;        // a stamp
  uint64_t grown_bytes = 0;  // what RSS changed by, signed
  SideFrame frame = {};
};

// The payload is the name, of `detail` bytes; 0: it was mapped at `from`, and
// moves.
struct SideFileMapped : SideHead {
  uint64_t address = 0, bytes = 0;
  uint64_t from = 0;
  uint64_t unused = 0;
  uint64_t behind() const { return detail; }
};
struct SideFileFound : SideHead {   // what was resident, before a call gives it
  uint64_t address = 0, bytes = 0;  // back
  uint64_t rss_bytes = 0;           // then
  uint64_t unused = 0;
};

#define PYMEMRUN_CHECK(kind, number, Head, party, stack) \
  static_assert(sizeof(Head) == kSideCellBytes &&        \
                std::is_trivially_copyable_v<Head> &&    \
                std::is_base_of_v<SideHead, Head>);
PYMEMRUN_SIDE_KINDS(PYMEMRUN_CHECK)
#undef PYMEMRUN_CHECK
static_assert(sizeof(SideLock) == kSideCellBytes);

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_WIRE_SIDE_HEADS_H_
