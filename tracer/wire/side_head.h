// What the heads of the second wire's items have in common, and the words for
// what those of a GIL and of tasks say. side_heads.h has one of each kind,
// side_ring_layout.h the whole.
#ifndef PYMEMRUN_TRACER_WIRE_SIDE_HEAD_H_
#define PYMEMRUN_TRACER_WIRE_SIDE_HEAD_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tracer/wire/side_kinds.h"

namespace pymemrun {

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

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_WIRE_SIDE_HEAD_H_
