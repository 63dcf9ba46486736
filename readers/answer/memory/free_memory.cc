#include "readers/answer/memory/free_memory.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "readers/places/place_table.h"
#include "readers/replay/heap/heap_places.h"
#include "readers/replay/heap_in_rss/python_arenas.h"
#include "readers/replay/resident/page_mappings.h"

namespace pymemrun {
namespace {

// Larger blocks usually have mappings of their own, and keep nothing else. This
// is glibc's M_MMAP_THRESHOLD at first, see mallopt(3).
constexpr uint64_t kMostArenaBytes = 128 << 10;

// malloc's main heap: the range of its resident pages, and the bytes of those
// that came since tracing started. brk() makes it one range, which
// /proc/PID/maps calls "[heap]".
struct MainHeap {
  uint64_t begin = UINT64_MAX, end = 0;
  double bytes = 0;
};

// Pages from before tracing belong to the range, but not to the bytes.
MainHeap FindMainHeap(const ResidentReplay& pages) {
  MainHeap main;
  const uint64_t page_bytes = pages.model().page_bytes();
  ForEachMapped(
      pages, [&](const PageMap::Range& range, uint32_t id, uint32_t mapping) {
        if (pages.index().MappingName(mapping) != "[heap]") return;
        main.begin = std::min(main.begin, range.begin * page_bytes);
        main.end = std::max(main.end, range.end * page_bytes);
        const PageOwner& owner = pages.model().owners()[id];
        if (owner.before_tracing()) return;
        main.bytes += static_cast<double>((range.end - range.begin) *
                                          page_bytes * owner.weight);
      });
  return main;
}

// Number of blocks by place.
using Blocks = absl::flat_hash_map<Place, double>;

// Leaves out lines with less than a fifth of the blocks.
std::vector<Place> MostBlocks(const Blocks& blocks) {
  constexpr size_t kMost = 2;
  constexpr double kLeastShare = 0.2;
  std::vector<std::pair<double, Place>> order;
  double all = 0;
  for (const auto& [place, count] : blocks) {
    order.emplace_back(-count, place);
    all += count;
  }
  std::sort(order.begin(), order.end());
  std::vector<Place> most;
  for (const auto& [count, place] : order) {
    if (most.size() == kMost || -count < kLeastShare * all) break;
    most.push_back(place);
  }
  return most;
}

}  // namespace

// One pass over the live blocks. A live block keeps free memory around it:
// malloc trims its heap from the top, and an arena is released as a whole. So
// the lines with most blocks matter, not those with most bytes.
FreeMemory FindFreeMemory(const ResidentReplay& pages, const HeapReplay& heap,
                          double free_bytes) {
  const MainHeap main = FindMainHeap(pages);
  const HeapModel& model = heap.model();
  Blocks in_main, in_arenas;
  double main_live = 0, python_blocks = 0, other_blocks = 0;
  for (const auto& [address, block] : model.blocks()) {
    const HeapSource& source = model.sources()[block.source];
    const double count = model.WeightOf(block);
    const bool is_main = address >= main.begin && address < main.end;
    if (is_main) {
      const PageMap::Run run =
          pages.model().pages().At(address / pages.model().page_bytes());
      // These pages are not in main.bytes.
      const bool before =
          pages.model().owners()[run.owner].before_tracing() && run.owner != 0;
      if (!before) main_live += count * static_cast<double>(block.size);
    } else if (block.size > kMostArenaBytes) {
      continue;
    } else {
      const bool is_small =
          PythonArenas::IsSmall(source.key.allocator, block.size);
      (is_small ? python_blocks : other_blocks) += count;
    }
    // Only own lines can be named as what keeps free memory.
    if (heap.index().OwnStack(source.key.stack) == 0) continue;
    Place place = PlaceOf(GroupBy::kLine, heap.index(), OriginOf(source.key));
    place.function = {};
    (is_main ? in_main : in_arenas)[place] += count;
  }
  FreeMemory free;
  free.malloc_bytes =
      std::min(std::max(0.0, main.bytes - main_live), free_bytes);
  free.other_bytes = free_bytes - free.malloc_bytes;
  free.in_python_arenas = python_blocks >= other_blocks;
  free.malloc_pins = MostBlocks(in_main);
  free.other_pins = MostBlocks(in_arenas);
  return free;
}

}  // namespace pymemrun
