// Resident pages that nobody is known to have brought, between known ones. Used
// by ResidentModel.
#ifndef PYMEMRUN_READERS_RESIDENT_PAGE_GAP_H_
#define PYMEMRUN_READERS_RESIDENT_PAGE_GAP_H_

#include <algorithm>
#include <cstdint>

namespace pymemrun {

// A known page beside others.
struct KnownPage {
  uint64_t page = 0;
  uint32_t owner = 0;  // 0: no page
  uint64_t came_us = 0;
};

struct PageGap {
  uint64_t begin = 0, end = 0;
  KnownPage left, right;          // on both sides
  uint64_t block = 1, piece = 1;  // aligned pages come together; may come
  uint32_t mapping = 0;
  uint64_t time_us = 0;
};

// Of a gap, what has no owner near.
struct GapMiddle {
  uint64_t begin, end;
};

// `middle` without what lies in one aligned block with a known page.
inline GapMiddle WithoutNear(const PageGap& gap, uint64_t block,
                             GapMiddle middle) {
  if (block == 1) return middle;
  GapMiddle rest = middle;
  if (gap.left.owner != 0) {
    rest.begin = std::clamp((gap.left.page / block + 1) * block, middle.begin,
                            middle.end);
  }
  if (gap.right.owner != 0) {
    rest.end =
        std::clamp(gap.right.page / block * block, middle.begin, middle.end);
  }
  if (rest.begin > rest.end) {  // both are near: half of it each
    rest.begin = rest.end = std::clamp((gap.left.page + gap.right.page) / 2 + 1,
                                       middle.begin, middle.end);
  }
  return rest;
}

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RESIDENT_PAGE_GAP_H_
