// The side ring: events from signal handlers and interposed calls, on any
// thread, with or without the GIL. It is behind the event ring in the same
// region. Its pages are not touched unless something uses it.
//
//   side ring := SideCells() cells of 64 bytes, used circularly
//   item      := a head cell, then cells that continue it
//
// Commit protocol. Many producers may work at once, and a handler may interrupt
// one:
//
//  1. Reserve cells by compare-and-swap of ControlPage::side_head.
//  2. Mark the item as begun: kSideBegun in the head cell's `sequence`. From
//  then on `kind` and `thread` of the head are valid.
//  3. Fill the cells.
//  4. Commit them from the last to the first, by storing index + 1 in each
//  `sequence` with release.
//
// So a cell whose sequence is not its own index + 1 is not committed yet. The
// collector takes items in order and moves ReplyPage::side_tail. It waits for a
// begun item while the item's thread lives, for instance in a call that unmaps
// gigabytes. It waits one minute at most, because a signal handler may have
// left that call by a jump. After that it skips the item, up to the next head.
#ifndef PYMEMRUN_TRACER_WIRE_SIDE_RING_LAYOUT_H_
#define PYMEMRUN_TRACER_WIRE_SIDE_RING_LAYOUT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/wire/side_heads.h"

namespace pymemrun {

// Size class of both rings; see RingSlots(). Any other value, written by a
// hostile program, counts as kSmallest.
enum class RingSizes : uint32_t { kWhole, kSmall, kSmallest };

inline constexpr uint32_t kSideCells = 1u << 15;
inline constexpr size_t kSideRingBytes = kSideCells * kSideCellBytes;  // 2 MiB

// Bit in the `sequence` of a head cell: the item was begun and is not
// committed. `kind` and `thread` are valid.
inline constexpr uint64_t kSideBegun = uint64_t{1} << 63;

struct SideContinued {
  std::atomic<uint64_t> sequence;
  char payload[kSideCellBytes - 8];  // frames, or bytes of a definition
};
static_assert(sizeof(SideContinued) == kSideCellBytes);
inline constexpr size_t kSidePayloadBytes = sizeof(SideContinued::payload);

// Returns the size of a huge page in bytes. It has as many pages as a page has
// words: 2 MiB for pages of 4 KiB, 32 MiB for 16 KiB, 512 MiB for 64 KiB.
constexpr uint64_t HugePageBytes(uint64_t page_bytes) {
  return page_bytes * (page_bytes / sizeof(uint64_t));
}

// Instruction position that means: none.
inline constexpr uint32_t kNoPosition = 0x7fffffff;

// A code object, as both rings define it.
struct CodePayload {
  uint32_t first_line;
  uint32_t line_table_kind;  // LineTableKind
  // Position of a CALL event that starts a call, and does not resume a
  // generator, where profiling makes a frame object. kNoPosition: no call makes
  // one.
  uint32_t start_position = kNoPosition;
};
static_assert(sizeof(CodePayload) == 12);

// Largest definition in bytes. A longer line table is left out.
inline constexpr size_t kMaxSideDefinition = 256 * 1024;

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_WIRE_SIDE_RING_LAYOUT_H_
