// The second wire to the collector: what comes from signal handlers and from
// interposed calls, on any thread, with or without the GIL. It lies behind the
// event ring in the same region, and is touched only when something uses it.
//
//   side ring := SideCells() cells of 64 bytes, used circularly
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

#include "tracer/wire/side_heads.h"

namespace pymemrun {

// How large both rings are: see RingSlots(). Any other value, which a hostile
// program may write, is as the last one.
enum class RingSizes : uint32_t { kWhole, kSmall, kSmallest };

inline constexpr uint32_t kSideCells = 1u << 15;
inline constexpr size_t kSideRingBytes = kSideCells * kSideCellBytes;  // 2 MiB

// Of a head's sequence: the item is begun, not committed. `kind` and `thread`
// are there.
inline constexpr uint64_t kSideBegun = uint64_t{1} << 63;

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

// A definition has at most so many bytes; a longer line table is left out.
inline constexpr size_t kMaxSideDefinition = 256 * 1024;

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_WIRE_SIDE_RING_LAYOUT_H_
