// How many pages may come at one fault. For ResidentModel.
#ifndef PYMEMRUN_READERS_RESIDENT_PAGE_BLOCK_H_
#define PYMEMRUN_READERS_RESIDENT_PAGE_BLOCK_H_

#include <cstdint>

#include "format/records/record_visitor.h"
#include "readers/resident/page_gap.h"

namespace pymemrun {

inline constexpr uint64_t kHugeBytes = 2 << 20;
inline constexpr uint64_t kAroundBytes = 64 << 10;

// Pages of an aligned block of this size come together.
inline uint64_t BlockOf(const ResidentRange& range, uint64_t page_bytes) {
  if (range.huge) return kHugeBytes / page_bytes;
  return range.file_backed ? kAroundBytes / page_bytes : 1;
}

// The most that a file's cache holds, and the kernel maps, in one piece.
inline uint64_t PieceOf(const ResidentRange& range, uint64_t page_bytes) {
  return range.huge || range.file_backed ? kHugeBytes / page_bytes : 1;
}

// Of a file's pages nobody need be known to have brought the rest.
inline bool IsOfFile(const PageGap& gap) { return gap.piece > gap.block; }

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RESIDENT_PAGE_BLOCK_H_
