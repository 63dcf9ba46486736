#include "readers/replay/heap_in_rss/pool_pages.h"

#include <algorithm>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_set.h"
#include "readers/replay/resident/page_mappings.h"

namespace pymemrun {
namespace {

// A mapping that a library made, as addresses.
struct Pool {
  uint64_t begin, end;
  uint32_t mapper;  // see PoolPart
  double weight;
};

// A mapper with a recorded block in one of its mappings is an allocator of the
// program, such as jemalloc: none of its mappings is a pool.
void RemoveMallocs(const HeapModel& heap, std::vector<Pool>* pools) {
  absl::flat_hash_set<uint32_t> mallocs;
  for (const auto& [address, block] : heap.blocks()) {
    const auto behind = std::upper_bound(
        pools->begin(), pools->end(), address,
        [](uint64_t at, const Pool& pool) { return at < pool.begin; });
    if (behind == pools->begin()) continue;
    const Pool& pool = *(behind - 1);
    if (address < pool.end) mallocs.insert(pool.mapper);
  }
  pools->erase(std::remove_if(pools->begin(), pools->end(),
                              [&mallocs](const Pool& pool) {
                                return mallocs.contains(pool.mapper);
                              }),
               pools->end());
}

// By ascending address, and disjoint, as parts of mappings are.
std::vector<Pool> PoolsOf(const HeapModel& heap) {
  std::vector<Pool> pools;
  for (const auto& [begin, part] : heap.mappings().parts()) {
    const auto& mapping = heap.mappings().OfPart(part);
    const HeapSource& source = heap.sources()[mapping.source];
    if (!source.pool) continue;
    pools.push_back({begin, part.end, source.key.code, heap.WeightOf(mapping)});
  }
  if (!pools.empty()) RemoveMallocs(heap, &pools);
  return pools;
}

}  // namespace

std::vector<PoolPart> FindPools(const ResidentReplay& pages,
                                const HeapModel& heap) {
  const std::vector<Pool> pools = PoolsOf(heap);
  std::vector<PoolPart> parts;
  if (pools.empty()) return parts;
  absl::btree_map<std::pair<uint32_t, uint32_t>, PoolPart> sums;
  const uint64_t page_bytes = pages.model().page_bytes();
  // Pages and pools are both sorted by address: one pass over both.
  auto next = pools.begin();
  ForEachMapped(pages, [&](const PageMap::Range& range, uint32_t id,
                           uint32_t mapping) {
    const PageOwner& owner = pages.model().owners()[id];
    const uint64_t begin = range.begin * page_bytes;
    const uint64_t end = range.end * page_bytes;
    while (next != pools.end() && next->end <= begin) ++next;
    if (next == pools.end() || owner.before_tracing() ||
        KindOf(pages.index().MappingName(mapping)) != PageKind::kAnonymous) {
      return;
    }
    for (auto pool = next; pool != pools.end() && pool->begin < end; ++pool) {
      const auto bytes = static_cast<double>(
          (std::min(end, pool->end) - std::max(begin, pool->begin)) *
          owner.weight);
      PoolPart& part = sums[{id, pool->mapper}];
      part.bytes += pool->weight * bytes;
      // Horvitz and Thompson's variance of a sampled mapping, see HeapModel.
      part.variance += pool->weight * (pool->weight - 1) * bytes * bytes;
    }
  });
  for (auto& [key, part] : sums) {
    part.owner = key.first;
    part.mapper = key.second;
    parts.push_back(part);
  }
  return parts;
}

std::vector<PoolPart> FindUnseenPools(const ResidentReplay& pages,
                                      const HeapModel& heap,
                                      double unseen_bytes) {
  std::vector<PoolPart> parts;
  const std::vector<Pool> pools = PoolsOf(heap);
  const uint64_t page_bytes = pages.model().page_bytes();
  auto next = pools.begin();
  double all = 0;
  // The pages of the next scan that the model does not have came since the last
  // one.
  for (const ResidentRange& range : pages.later_ranges()) {
    const uint64_t end = range.page + range.pages;
    while (next != pools.end() && next->end <= range.page * page_bytes) ++next;
    if (range.file_backed) continue;
    for (auto pool = next;
         pool != pools.end() && pool->begin < end * page_bytes; ++pool) {
      const uint64_t from = std::max(range.page, pool->begin / page_bytes);
      const uint64_t to = std::min(end, pool->end / page_bytes);
      if (from >= to) continue;
      const uint64_t unseen =
          to - from - pages.model().pages().Covered(from, to);
      parts.push_back(
          {0, pool->mapper,
           pool->weight * static_cast<double>(unseen * page_bytes)});
      all += parts.back().bytes;
    }
  }
  // There cannot be more than is unseen: scale down.
  if (all <= unseen_bytes) return parts;
  for (PoolPart& part : parts) part.bytes *= unseen_bytes / all;
  return parts;
}

std::string LibraryName(absl::string_view mapping) {
  // Without the path, the version and the suffix of a wheel's copy ("-1a2b3c").
  absl::string_view name = mapping.substr(mapping.rfind('/') + 1);
  name = name.substr(0, name.find_first_of(".-"));
  while (!name.empty() && name.back() == '_') name.remove_suffix(1);
  return name.empty() ? "?" : std::string(name);
}

}  // namespace pymemrun
