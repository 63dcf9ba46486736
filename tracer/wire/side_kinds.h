// Kinds of items in the side ring, one line each. This table determines who
// receives an item, whose loss it counts as, and how the collector reads it. A
// new kind is a struct in side_heads.h and a line here.
#ifndef PYMEMRUN_TRACER_WIRE_SIDE_KINDS_H_
#define PYMEMRUN_TRACER_WIRE_SIDE_KINDS_H_

#include <cstddef>
#include <cstdint>

namespace pymemrun {

// The reader that an item is for. Lost items are counted by party.
enum class SideParty : uint32_t {
  kPages = 0,
  kHeap = 1,
  kEither = 2,  // a definition, or not known
  kGil = 3,
  kTasks = 4,
};
inline constexpr uint32_t kSideParties = 5;

// Whether the stack of the item's thread follows the head.
enum class SideStack : bool { kNone, kCarried };

// KIND(kind, number on the wire, struct of side_heads.h, SideParty, SideStack)
//
// kNothing carries no data. It only holds back the items behind it until it is
// committed.
#define PYMEMRUN_SIDE_KINDS(KIND)                      \
  KIND(kTouch, 1, SideTouch, kPages, kCarried)         \
  KIND(kRange, 2, SideRange, kPages, kCarried)         \
  KIND(kCode, 3, SideCode, kEither, kNone)             \
  KIND(kCodeGone, 4, SideCodeGone, kEither, kNone)     \
  KIND(kFork, 5, SideFork, kPages, kNone)              \
  KIND(kNothing, 6, SideAny, kEither, kNone)           \
  KIND(kAlloc, 7, SideHeapEvent, kHeap, kCarried)      \
  KIND(kFree, 8, SideHeapEvent, kHeap, kNone)          \
  KIND(kHeapRates, 9, SideHeapRates, kHeap, kNone)     \
  KIND(kFinalize, 10, SideHeapEvent, kHeap, kNone)     \
  KIND(kUnmap, 11, SideHeapEvent, kHeap, kNone)        \
  KIND(kGil, 12, SideGil, kGil, kNone)                 \
  KIND(kGilStack, 13, SideGilStack, kGil, kCarried)    \
  KIND(kTask, 14, SideTask, kTasks, kCarried)          \
  KIND(kTaskStep, 15, SideTaskStep, kTasks, kCarried)  \
  KIND(kFileMapped, 16, SideFileMapped, kPages, kNone) \
  KIND(kFileFound, 17, SideFileFound, kPages, kNone)

enum class SideKind : uint16_t {
  kContinued = 0,  // not a head
#define PYMEMRUN_NUMBER(kind, number, head, party, stack) kind = number,
  PYMEMRUN_SIDE_KINDS(PYMEMRUN_NUMBER)
#undef PYMEMRUN_NUMBER
};

inline constexpr SideKind kLastSideKind = SideKind::kFileFound;
inline constexpr size_t kSideKinds = static_cast<size_t>(kLastSideKind) + 1;

constexpr SideParty PartyOf(SideKind kind) {
  switch (kind) {
#define PYMEMRUN_PARTY(kind, number, head, party, stack) \
  case SideKind::kind:                                   \
    return SideParty::party;
    PYMEMRUN_SIDE_KINDS(PYMEMRUN_PARTY)
#undef PYMEMRUN_PARTY
    case SideKind::kContinued:
      break;
  }
  return SideParty::kEither;
}

constexpr bool HasStack(SideKind kind) {
  switch (kind) {
#define PYMEMRUN_STACK(kind, number, head, party, stack) \
  case SideKind::kind:                                   \
    return SideStack::stack == SideStack::kCarried;
    PYMEMRUN_SIDE_KINDS(PYMEMRUN_STACK)
#undef PYMEMRUN_STACK
    case SideKind::kContinued:
      break;
  }
  return false;
}

// Whether items of this kind have time stamps rather than CLOCK_MONOTONIC.
constexpr bool HasStamps(SideKind kind) {
  return PartyOf(kind) == SideParty::kGil || PartyOf(kind) == SideParty::kTasks;
}

// Bits of SideHead::flags, for all kinds except kGil.
inline constexpr uint16_t kSideLate = 1;      // the stack was taken later
inline constexpr uint16_t kSideCut = 2;       // more frames than fit
inline constexpr uint16_t kSideNoPython = 4;  // the thread has no Python state
inline constexpr uint16_t kSideUnknownFrame = 8;  // a frame could not be read,
                                                  // nor those below it
inline constexpr uint16_t kSideTracing = 16;  // kAlloc: made by tracing itself
inline constexpr uint16_t kSideAdapted = 32;  // kHeapRates
// kAlloc: 8 more bytes follow the frames, the address of the code that called
// malloc.
inline constexpr uint16_t kSideCaller = 64;
// kTouch: a page of the same huge page, far from this one, is resident too.
inline constexpr uint16_t kSideFarToo = 128;
inline constexpr uint16_t kSideMoves = 256;  // kUnmap
// kTouch: the thread's interpreter collects cycles (gc).
inline constexpr uint16_t kSideCollecting = 512;
// kTouch: no page fault. The thread asked for huge pages there (madvise).
inline constexpr uint16_t kSideAskedForHuge = 1024;
inline constexpr uint16_t kAllSideFlags = 2 * kSideAskedForHuge - 1;

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_WIRE_SIDE_KINDS_H_
