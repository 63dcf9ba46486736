// Heads of items in the side ring: one struct for each kind, or for some kinds.
// The sender fills a head in the ring; the taker reads a copy.
// side_ring_layout.h describes the ring.
#ifndef PYMEMRUN_TRACER_WIRE_SIDE_HEADS_H_
#define PYMEMRUN_TRACER_WIRE_SIDE_HEADS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tracer/wire/ring_slots.h"
#include "tracer/wire/side_kinds.h"

namespace pymemrun {

// Notes of kTask and kTaskStep, numbered as TaskAction in tasks.proto, whose 3
// only the collector writes.
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
// Within a step, times without the GIL of at least this long are recorded.
inline constexpr uint64_t kMinTaskBlockedNs = 1000000;

// Numbered as TaskKind in tasks.proto.
enum class SideTaskKind : uint64_t { kTask = 0, kGreenlet = 1 };

// Notes of kGil and kGilStack, numbered as GilAction in gil.proto; kEnded is
// its GIL_STATE.
enum class GilNote : uint16_t {
  kTaken = 0,
  kWaiting = 1,
  kGivingWay = 2,  // this and the next have no facts of the last holder
  kGaveWay = 3,
  kEnded = 7,  // last state of a GIL that was destroyed
  // In a free-threaded interpreter, with SideLock.
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

// A frame of a stack. The innermost frame comes first, and is in the head.
struct SideFrame {
  uint32_t code;      // id of a kCode; 0: not known
  uint32_t position;  // instruction offset in code units
};
static_assert(sizeof(SideFrame) == 8);
inline constexpr uint32_t kSideFramesInHead = 1;
inline constexpr uint32_t kMaxSideFrames = 512;
// Bytes of the frames after the first: the payload starts with them.
constexpr size_t SideFrameBytes(size_t frames) {
  return frames <= kSideFramesInHead
             ? 0
             : (frames - kSideFramesInHead) * sizeof(SideFrame);
}

// Common start of all heads. The ring sets `sequence` and `cells`.
struct SideHead {
  uint64_t sequence = 0;  // as in SideContinued
  SideKind kind = SideKind::kContinued;
  uint16_t flags = 0;    // kSide... of side_kinds.h
  uint32_t cells = 0;    // cells of the item, this one included
  uint32_t thread = 0;   // Linux thread id
  uint32_t detail = 0;   // with a stack: frames() and what(); else by kind
  uint64_t time_ns = 0;  // CLOCK_MONOTONIC, or a stamp: see HasStamps

  uint32_t frames() const { return detail & 0xffff; }
  uint32_t what() const { return detail >> 16; }
  template <typename What>
  static constexpr uint32_t Detail(size_t frames, What what) {
    return static_cast<uint32_t>(frames) | static_cast<uint32_t>(what) << 16;
  }
  // Bytes of the payload after the frames.
  uint64_t behind() const { return 0; }
};
static_assert(sizeof(SideHead) == 32 && offsetof(SideHead, flags) == 10 &&
              offsetof(SideHead, cells) == 12 &&
              offsetof(SideHead, thread) == 16 &&
              offsetof(SideHead, detail) == 20 &&
              offsetof(SideHead, time_ns) == 24);

// A head of any kind, to be converted by As().
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

// Numbered as PageAction in pages.proto.
enum class RangeAction : uint32_t {
  kPopulated = 1,
  kUnmapped = 2,
  kDiscarded = 3,
  kMoved = 4,
  kTrimmed = 5,
};
struct SideRange : SideHead {  // an event of pages; RangeAction what()
  uint64_t address = 0, bytes = 0;
  uint64_t to = 0;  // new address of kMoved
  SideFrame frame = {};
};

struct SideCode : SideHead {  // a code object, as ControlKind::kCode
  uint64_t id = 0, bytes = 0;
  uint64_t unused[2] = {};
  uint64_t behind() const { return bytes; }
};
struct SideCodeGone : SideHead {  // this id will not be used again
  uint64_t id = 0;
  uint64_t unused[3] = {};
};
struct SideFork : SideHead {  // a child was made
  uint64_t child = 0;         // its pid; 0: not known
  uint64_t unused[3] = {};
};

// kAlloc and kFree: a block. A realloc is a free, then an allocation. kUnmap:
// memory mapped by C code was unmapped; with kSideMoves it has moved to the
// address of this thread's next kAlloc of kMremap. kFinalize: the interpreter
// starts to finalise.
struct SideHeapEvent : SideHead {  // kAlloc: AllocatorKind what()
  uint64_t address = 0;
  uint64_t bytes = 0;    // kAlloc; kUnmap: of whole pages
  uint64_t index = 0;    // next slot of the event ring, see HeapSlot
  SideFrame frame = {};  // kAlloc
  uint64_t behind() const {
    return kind == SideKind::kAlloc && (flags & kSideCaller) != 0
               ? sizeof(uint64_t)
               : 0;
  }
};

struct SideHeapClass {  // HeapClass of heap.proto
  uint64_t below_bytes;
  double probability;
};
static_assert(sizeof(SideHeapClass) == 16);
// Sampling rates from now on. The payload has `detail` SideHeapClass.
// kSideAdapted: chosen by the cost of earlier samples.
struct SideHeapRates : SideHead {
  uint64_t unused = 0;
  uint64_t mean_bytes = 0;
  uint64_t unused2[2] = {};
  uint64_t behind() const { return uint64_t{detail} * sizeof(SideHeapClass); }
};

// SideGil::detail << kGilKeptShift: time in stamp units for which the thread
// had been prevented from running before this event.
inline constexpr uint32_t kGilKeptShift = 8;
// An event of a GIL; flags = GilNote. The fields are those of the last holder
// before it, as in GilHold. kEnded: `detail` is the Linux thread id of the last
// holder.
struct SideGil : SideHead {
  uint64_t gil = 0;
  uint64_t free_since = 0, paused = 0, pauses = 0;
};
// The same kind of item in a free-threaded interpreter.
struct SideLock : SideHead {
  uint64_t gil = 0;
  uint64_t waker = 0;  // Linux id of the thread that ended the wait; or 0
  uint64_t unused[2] = {};
};
struct SideGilStack : SideHead {  // after a long wait; GilRole what()
  uint64_t gil = 0;
  uint64_t function = 0;  // raw id of the last C function called; 0: none
  uint64_t unused = 0;
  SideFrame frame = {};
};

struct SideTask : SideHead {         // payload: its name, what() bytes
  uint64_t task = 0, coroutine = 0;  // addresses
  uint64_t task_kind = 0;            // SideTaskKind
  SideFrame frame = {};
  uint64_t behind() const { return what(); }
};
struct SideTaskStep : SideHead {  // an ended step; TaskNote what()
  uint64_t task = 0;
  uint64_t begin = 0;        // time stamp
  uint64_t grown_bytes = 0;  // change of RSS, signed
  SideFrame frame = {};
};

// A file was mapped; the payload is its name of `detail` bytes. detail 0: a
// file mapped at `from` has moved.
struct SideFileMapped : SideHead {
  uint64_t address = 0, bytes = 0;
  uint64_t from = 0;
  uint64_t unused = 0;
  uint64_t behind() const { return detail; }
};
// Resident pages of a file, before a call releases them.
struct SideFileFound : SideHead {
  uint64_t address = 0, bytes = 0;
  uint64_t rss_bytes = 0;  // at that time
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
