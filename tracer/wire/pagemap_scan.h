// ioctl PAGEMAP_SCAN of /proc/PID/pagemap, as Linux has it since 6.7; headers
// of older systems do not.
#ifndef PYMEMRUN_TRACER_WIRE_PAGEMAP_SCAN_H_
#define PYMEMRUN_TRACER_WIRE_PAGEMAP_SCAN_H_

#include <linux/ioctl.h>

#include <cstdint>

namespace pymemrun {

struct PageRegion {
  uint64_t begin;  // addresses
  uint64_t end;
  uint64_t categories;
};
static_assert(sizeof(PageRegion) == 24);

struct PagemapScan {
  uint64_t size = sizeof(PagemapScan);
  uint64_t flags;  // 0
  uint64_t begin;
  uint64_t end;
  uint64_t walk_end;     // set by the kernel: where it stopped
  uint64_t regions;      // address of an array of PageRegion...
  uint64_t regions_max;  // ...and its length
  uint64_t max_pages;    // 0: any number
  uint64_t category_inverted;
  uint64_t category_mask;  // all of these, after inversion
  uint64_t category_anyof_mask;
  uint64_t return_mask;
};
static_assert(sizeof(PagemapScan) == 96);

// Returns the number of regions.
inline constexpr unsigned long kPagemapScan =
    _IOC(_IOC_READ | _IOC_WRITE, 'f', 16, sizeof(PagemapScan));

inline constexpr uint64_t kPageIsFile = 1u << 2;
inline constexpr uint64_t kPageIsPresent = 1u << 3;
inline constexpr uint64_t kPageIsZeroPage = 1u << 5;
inline constexpr uint64_t kPageIsHuge = 1u << 6;

// Without the ioctl: an entry of /proc/PID/pagemap.
inline constexpr uint64_t kPagemapPresent = uint64_t{1} << 63;
inline constexpr uint64_t kPagemapFile = uint64_t{1} << 61;

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_WIRE_PAGEMAP_SCAN_H_
