#include "readers/replay/heap_in_rss/heap_estimate.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "readers/replay/heap_in_rss/pool_pages.h"
#include "readers/replay/resident/page_mappings.h"

namespace pymemrun {
namespace {

// The resident bytes of an address range, and the part of them in pages from
// before tracing.
struct ResidentBytes {
  double bytes = 0, before_bytes = 0;
};

// The bytes that an allocator takes for a block of this size. Small blocks of
// CPython are multiples of 16 bytes; glibc adds 8 bytes of its own. In larger
// blocks this is negligible.
uint64_t TakenBy(HeapAllocator allocator, uint64_t size) {
  constexpr uint64_t kStep = 16, kSmall = 512, kOwn = 8, kLeast = 32;
  constexpr uint64_t kLarge = 4096;
  if (size >= kLarge) return size;
  const auto round = [](uint64_t bytes) {
    return (bytes + kStep - 1) / kStep * kStep;
  };
  const bool pools = allocator == HEAP_OBJ || allocator == HEAP_MEM;
  if (pools && size <= kSmall) return round(size);
  return std::max(kLeast, round(size + kOwn));
}

// Blocks sorted by address: the order affects rounding.
std::vector<std::pair<uint64_t, const HeapModel::Block*>> InOrder(
    const HeapModel& heap) {
  std::vector<std::pair<uint64_t, const HeapModel::Block*>> blocks;
  blocks.reserve(heap.blocks().size());
  for (const auto& [address, block] : heap.blocks()) {
    if (block.size > 0) blocks.emplace_back(address, &block);
  }
  std::sort(blocks.begin(), blocks.end());
  return blocks;
}

// Pages from before tracing.
class PagesBefore {
 public:
  explicit PagesBefore(const ResidentModel& model) {
    uint64_t pages = 0;
    model.pages().ForEach([&](const PageMap::Run& run) {
      if (!model.owners()[run.owner].before_tracing()) return;
      runs_.push_back({run.begin, run.end, pages});
      pages += run.pages();
    });
  }

  // The number of such pages in a range.
  uint64_t In(uint64_t begin, uint64_t end) const {
    return Below(end) - Below(begin);
  }

 private:
  struct Run {
    uint64_t begin, end, pages_below;
  };
  uint64_t Below(uint64_t page) const {
    const auto next = std::partition_point(
        runs_.begin(), runs_.end(),
        [page](const Run& run) { return run.begin < page; });
    if (next == runs_.begin()) return 0;
    const Run& run = *std::prev(next);
    return run.pages_below + std::min(page, run.end) - run.begin;
  }
  std::vector<Run> runs_;  // by address
};

ResidentBytes ResidentOf(const ResidentReplay& pages, const PagesBefore& before,
                         uint64_t begin, uint64_t bytes) {
  const auto all = static_cast<double>(bytes);
  const ResidentModel& model = pages.model();
  // Without pages, or with one page in N, residency is unknown: the block
  // counts whole.
  if (!pages.has_page_events() || model.sampled() || bytes == 0) {
    return {all, 0};
  }
  const uint64_t page_bytes = model.page_bytes();
  const uint64_t first = begin / page_bytes;
  const uint64_t end = (begin + bytes - 1) / page_bytes + 1;
  // A small block was written to, so its pages are resident.
  if (end - first <= 2) return {all, before.In(first, first + 1) ? all : 0};
  const uint64_t covered = model.pages().Covered(first, end);
  const double resident =
      std::min(all, static_cast<double>(covered * page_bytes));
  // Pages from before tracing are in proportion to the resident part.
  if (covered == 0) return {0, 0};
  return {resident, resident * static_cast<double>(before.In(first, end)) /
                        static_cast<double>(covered)};
}

// Collects the ranges of memory that a heap has.
class RangeSums {
 public:
  RangeSums(const ResidentReplay& pages, size_t sources)
      : pages_(pages), before_(pages.model()), parts_(sources) {}

  void Add(uint64_t begin, uint64_t bytes, double weight, uint32_t source) {
    const ResidentBytes resident = ResidentOf(pages_, before_, begin, bytes);
    HeapPart& part = parts_[source];
    part.bytes += weight * resident.bytes;
    part.before_bytes += weight * resident.before_bytes;
    // Horvitz and Thompson's variance of a sampled block, see HeapModel.
    part.variance += weight * (weight - 1) * resident.bytes * resident.bytes;
    const double missing = static_cast<double>(bytes) - resident.bytes;
    if (missing > 0) gaps_.push_back({missing, weight, source});
  }
  // `bytes` of what is not known to be resident are resident after all.
  // Programs mostly use all of a block or nothing, and reserve the largest
  // blocks without using them. So small blocks are filled first. Returns the
  // variance of that choice, by source.
  std::vector<double> Fill(double bytes) {
    std::vector<double> missing(parts_.size());
    if (bytes <= 0) return missing;
    std::sort(gaps_.begin(), gaps_.end(), [](const Gap& a, const Gap& b) {
      return a.bytes != b.bytes ? a.bytes < b.bytes : a.source < b.source;
    });
    double left = bytes, all = 0;
    for (auto at = gaps_.begin(); at != gaps_.end();) {
      // All gaps of one size get the same share: the order of sources does not
      // matter.
      const auto end = std::find_if(at, gaps_.end(), [at](const Gap& gap) {
        return gap.bytes > at->bytes;
      });
      double alike = 0;
      for (auto gap = at; gap != end; ++gap) alike += gap->all();
      const double share = std::min(1.0, left / alike);
      for (; at != end; ++at) {
        parts_[at->source].bytes += share * at->all();
        missing[at->source] += at->all();
      }
      left -= share * alike;
      all += alike;
    }
    // The true value is anywhere between its minimum and maximum: the variance
    // of a uniform distribution is width^2 / 12.
    for (double& one : missing) {
      const double least = std::max(0.0, bytes - (all - one));
      const double width = std::max(0.0, std::min(one, bytes) - least);
      one = width * width / 12;
    }
    return missing;
  }
  std::vector<HeapPart> Take() { return std::move(parts_); }

 private:
  // The part of a block that is not known to be resident; it stands for
  // `weight` blocks.
  struct Gap {
    double bytes, weight;
    uint32_t source;
    double all() const { return weight * bytes; }
  };

  const ResidentReplay& pages_;
  const PagesBefore before_;
  std::vector<HeapPart> parts_;  // by source
  std::vector<Gap> gaps_;
};

// Samples may stand for more than there is: the estimate is then reduced to
// what is resident.
void FitTo(double room_bytes, double before_bytes,
           std::vector<HeapPart>* parts) {
  double all = 0, before = 0, estimated = 0;
  for (const HeapPart& part : *parts) {
    all += part.bytes;
    before += part.before_bytes;
    if (part.variance > 0) estimated += part.bytes;
  }
  const double room = room_bytes + std::min(before, before_bytes);
  if (all <= room || estimated <= 0) return;
  // Only estimates shrink: exact parts are there.
  const double fit = std::max(0.0, 1 - (all - room) / estimated);
  for (HeapPart& part : *parts) {
    if (part.variance > 0) part.bytes *= fit;
    part.before_bytes = std::min(part.before_bytes, part.bytes);
  }
}

// Charges owners with their bytes in libraries' pools, out of the pages they
// touched. Returns the rest.
double ChargePools(const ResidentReplay& pages, const HeapModel& heap,
                   std::vector<double>* touched, HeapCharges* charges) {
  for (const PoolPart& part : FindPools(pages, heap)) {
    const double bytes = std::min(part.bytes, (*touched)[part.owner]);
    (*touched)[part.owner] -= bytes;
    charges->by_owner[part.owner] += bytes;
  }
  return std::accumulate(touched->begin(), touched->end(), 0.0);
}

}  // namespace

std::vector<HeapPart> EstimateResidentHeap(const ResidentReplay& pages,
                                           const HeapModel& heap,
                                           double room_bytes,
                                           double before_bytes,
                                           double unseen_bytes) {
  RangeSums sums(pages, heap.sources().size());
  // All blocks in order, each with its rounding by the allocator.
  for (const auto& [address, block] : InOrder(heap)) {
    const uint64_t bytes =
        TakenBy(heap.sources()[block->source].key.allocator, block->size);
    if (address > UINT64_MAX - bytes) continue;
    sums.Add(address, bytes, heap.WeightOf(*block), block->source);
  }
  // It is unknown which part of the mappings was touched.
  if (!pages.has_page_events()) return sums.Take();
  for (const auto& [begin, part] : heap.mappings().parts()) {
    const auto& mapping = heap.mappings().OfPart(part);
    if (heap.sources()[mapping.source].pool) continue;
    sums.Add(begin, part.end - begin, heap.WeightOf(mapping), mapping.source);
  }
  const std::vector<double> unsure = sums.Fill(unseen_bytes);
  std::vector<HeapPart> parts = sums.Take();
  // Before the variance of the choice is added: only sampled parts may shrink.
  FitTo(room_bytes, before_bytes, &parts);
  for (size_t i = 0; i < parts.size(); ++i) parts[i].variance += unsure[i];
  return parts;
}

// In this order: pages of files stay with owners, pools go to who touched them,
// blocks get their estimate, and the rest is slack or stays.
HeapCharges EstimateCharges(const ResidentReplay& pages,
                            const HeapReplay& heap) {
  const ResidentModel& model = pages.model();
  HeapCharges charges;
  charges.by_owner.resize(model.owners().size());
  std::vector<double> anonymous(model.owners().size());
  double before = static_cast<double>(model.UnlistedBeforeBytes());
  // Splits the pages into anonymous memory, which blocks may be in, and the
  // rest, which stays with its owners.
  ForEachMapped(
      pages, [&](const PageMap::Range& range, uint32_t id, uint32_t mapping) {
        const PageOwner& owner = model.owners()[id];
        const auto bytes = static_cast<double>(
            (range.end - range.begin) * owner.weight * model.page_bytes());
        const bool in_pool =
            !owner.before_tracing() &&
            KindOf(pages.index().MappingName(mapping)) == PageKind::kAnonymous;
        (in_pool ? anonymous : charges.by_owner)[id] += bytes;
        if (owner.before_tracing()) before += bytes;
      });
  const double pool = ChargePools(pages, heap.model(), &anonymous, &charges);
  const auto parts = EstimateResidentHeap(pages, heap.model(), pool, before);
  double used_before = 0, used = 0;
  for (const HeapPart& part : parts) {
    charges.by_source.push_back(part.bytes);
    charges.variance.push_back(part.variance);
    used += part.bytes;
    used_before += part.before_bytes;
  }
  used_before = std::min(used_before, before);
  const double rest = pool - (used - used_before);
  // Faults show who touched the rest; if C code's blocks were recorded, the
  // rest is free memory.
  const bool touchers_know =
      !pages.by_scan() && !pages.header().heap_native() && pool > 0;
  if (!touchers_know) charges.slack_bytes = rest;
  for (uint32_t id = 1; id < charges.by_owner.size(); ++id) {
    if (touchers_know) charges.by_owner[id] += anonymous[id] * rest / pool;
    if (model.owners()[id].before_tracing()) {
      charges.by_owner[id] *= 1 - used_before / before;
    }
  }
  return charges;
}

}  // namespace pymemrun
