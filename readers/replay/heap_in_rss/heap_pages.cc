#include "readers/replay/heap_in_rss/heap_pages.h"

#include <algorithm>
#include <utility>

namespace pymemrun {
namespace {

struct LiveBlock {
  uint64_t begin, end;
  uint32_t source;
  float weight;
};

// Live blocks by address. If two overlap, the free of the lower one was lost:
// it ends where the other starts.
std::vector<LiveBlock> LiveBlocks(const HeapModel& heap) {
  std::vector<LiveBlock> blocks;
  blocks.reserve(heap.blocks().size());
  for (const auto& [address, block] : heap.blocks()) {
    if (block.size == 0 || address > UINT64_MAX - block.size) continue;
    blocks.push_back({address, address + block.size, block.source,
                      static_cast<float>(heap.WeightOf(block))});
  }
  std::sort(
      blocks.begin(), blocks.end(),
      [](const LiveBlock& a, const LiveBlock& b) { return a.begin < b.begin; });
  for (size_t i = 1; i < blocks.size(); ++i) {
    blocks[i - 1].end = std::min(blocks[i - 1].end, blocks[i].begin);
  }
  return blocks;
}

// Charges one run of pages after the other, by ascending address.
class PageCharger {
 public:
  using Visit = std::function<void(const PageCharge&)>;

  PageCharger(const ResidentModel& pages, const HeapModel& heap,
              const Visit& visit, bool of_mappers, HeapCharges* charges)
      : pages_(pages),
        of_mappers_(of_mappers),
        visit_(visit),
        charges_(*charges),
        heap_(heap),
        blocks_(LiveBlocks(heap)),
        next_part_(heap.mappings().parts().begin()) {
    charges_.by_source.resize(heap.sources().size());
    charges_.by_owner.resize(pages.owners().size());
  }

  // A long run with few blocks is charged in large pieces; only pages with a
  // border in them are charged one by one.
  void Charge(const PageMap::Run& run) {
    for (uint64_t page = run.begin; page < run.end;) {
      const uint64_t pages = ChargeAlike(page, run);
      if (pages == 0) Charge(page, run.owner);
      page += std::max<uint64_t>(pages, 1);
    }
  }

 private:
  // Charges, in one step, the pages from `page` on that have no blocks and
  // mappings, or are filled by a single one. Returns their number; 0: `page` is
  // mixed.
  uint64_t ChargeAlike(uint64_t page, const PageMap::Run& run) {
    const uint64_t page_bytes = pages_.page_bytes();
    const uint64_t begin = page * page_bytes;
    // Each sampled page counts in the error, so these are charged singly. A run
    // that is no longer sampled has its old owner if a new one did not fit.
    if (pages_.owners()[run.owner].weight > 1) return 0;
    while (next_ < blocks_.size() && blocks_[next_].end <= begin) ++next_;
    const LiveBlock* const block =
        next_ < blocks_.size() ? &blocks_[next_] : nullptr;
    uint64_t end = run.end;
    PageCharge charge = {page, 1, PageCharge::To::kOwner, run.owner, 0};
    if (block != nullptr && block->begin <= begin) {
      end = std::min(end, block->end / page_bytes);
      charge.to = PageCharge::To::kSource;
      charge.id = block->source;
    } else {
      if (block != nullptr) end = std::min(end, block->begin / page_bytes);
      // No block starts before `end`.
      end = MappedAlike(begin, end, &charge);
    }
    if (end <= page) return 0;
    charge.bytes = static_cast<double>((end - page) * page_bytes);
    Add(charge);
    return end - page;
  }

  // The pages from address `begin` up to page `end` have no block. Returns the
  // end of those without a mapping, or filled by one, which is charged.
  uint64_t MappedAlike(uint64_t begin, uint64_t end, PageCharge* charge) {
    const HeapMappings::Parts& parts = heap_.mappings().parts();
    PassParts(begin);
    if (next_part_ == parts.end()) return end;
    if (next_part_->first > begin) {
      return std::min(end, next_part_->first / pages_.page_bytes());
    }
    charge->to = PageCharge::To::kSource;
    charge->id = heap_.mappings().OfPart(next_part_->second).source;
    return std::min(end, next_part_->second.end / pages_.page_bytes());
  }
  // Skips the parts that end below `begin`, and pools. Parts are visited by
  // ascending address, so each is skipped once.
  void PassParts(uint64_t begin) {
    const HeapMappings::Parts& parts = heap_.mappings().parts();
    while (next_part_ != parts.end() &&
           (next_part_->second.end <= begin || !Counts(next_part_->second))) {
      ++next_part_;
    }
  }
  bool Counts(const HeapMappings::Part& part) const {
    const uint32_t source = heap_.mappings().OfPart(part).source;
    return of_mappers_ || !heap_.sources()[source].pool;
  }

  // A single page: first its blocks, then mappings, then slack.
  void Charge(uint64_t page, uint32_t owner) {
    const uint64_t begin = page * pages_.page_bytes();
    const uint64_t end = begin + pages_.page_bytes();
    const auto page_bytes = static_cast<double>(pages_.page_bytes());
    const uint32_t weight = pages_.owners()[owner].weight;
    const auto stands_for = static_cast<double>(weight);
    while (next_ < blocks_.size() && blocks_[next_].end <= begin) ++next_;
    double all = 0;
    inside_.clear();
    for (size_t i = next_; i < blocks_.size() && blocks_[i].begin < end; ++i) {
      const uint64_t from = std::max(begin, blocks_[i].begin);
      const uint64_t to = std::min(end, blocks_[i].end);
      if (to <= from) continue;
      const double bytes = static_cast<double>(to - from) * blocks_[i].weight;
      inside_.emplace_back(blocks_[i].source, bytes);
      all += bytes;
    }
    const bool has_blocks = !inside_.empty();
    double rest = page_bytes;
    if (has_blocks) rest -= AddInside(page, weight, all, page_bytes);
    // What blocks leave of a page belongs to the mapping in it.
    all = FindMappings(begin, end);
    if (inside_.empty() && !has_blocks) {
      Add({page, weight, PageCharge::To::kOwner, owner,
           stands_for * page_bytes});
      return;
    }
    if (!inside_.empty()) rest -= AddInside(page, weight, all, rest);
    Add({page, weight, PageCharge::To::kSlack, 0, rest * stands_for});
  }

  // Charges the entries of inside_, `all` bytes, with at most `room` bytes of
  // the page. Returns the bytes charged.
  double AddInside(uint64_t page, uint32_t weight, double all, double room) {
    // Blocks that stand for more than fits share the room in proportion.
    const double part = std::min(1.0, room / all);
    for (const auto& [source, bytes] : inside_) {
      Add({page, weight, PageCharge::To::kSource, source,
           bytes * part * weight});
    }
    return all * part;
  }
  // Fills inside_ with the mappings' bytes in this range; returns their sum.
  double FindMappings(uint64_t begin, uint64_t end) {
    const HeapMappings::Parts& parts = heap_.mappings().parts();
    PassParts(begin);
    double all = 0;
    inside_.clear();
    for (auto at = next_part_; at != parts.end() && at->first < end; ++at) {
      if (!Counts(at->second)) continue;
      const auto& mapping = heap_.mappings().OfPart(at->second);
      const uint64_t bytes =
          std::min(end, at->second.end) - std::max(begin, at->first);
      inside_.emplace_back(
          mapping.source, static_cast<double>(bytes) * heap_.WeightOf(mapping));
      all += inside_.back().second;
    }
    return all;
  }
  void Add(const PageCharge& charge) {
    switch (charge.to) {
      case PageCharge::To::kOwner:
        charges_.by_owner[charge.id] += charge.bytes;
        break;
      case PageCharge::To::kSource:
        charges_.by_source[charge.id] += charge.bytes;
        break;
      case PageCharge::To::kSlack:
        charges_.slack_bytes += charge.bytes;
        break;
    }
    if (visit_ != nullptr) visit_(charge);
  }

  const ResidentModel& pages_;
  const bool of_mappers_;
  const Visit& visit_;
  HeapCharges& charges_;
  const HeapModel& heap_;
  const std::vector<LiveBlock> blocks_;
  size_t next_ = 0;  // earlier ones end below the page
  HeapMappings::Parts::const_iterator next_part_;    // likewise
  std::vector<std::pair<uint32_t, double>> inside_;  // source, bytes
};

}  // namespace

HeapCharges ChargePages(const ResidentModel& pages, const HeapModel& heap,
                        const std::function<void(const PageCharge&)>& visit,
                        bool of_mappers) {
  HeapCharges charges;
  PageCharger charger(pages, heap, visit, of_mappers, &charges);
  pages.pages().ForEach(
      [&charger](const PageMap::Run& run) { charger.Charge(run); });
  return charges;
}

}  // namespace pymemrun
