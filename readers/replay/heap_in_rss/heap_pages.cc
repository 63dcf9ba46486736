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

// By address. Where two overlap the lower one's free was lost: it ends where
// the other begins.
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

// Charges one run after the other, in the order of addresses.
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

  void Charge(const PageMap::Run& run) {
    for (uint64_t page = run.begin; page < run.end;) {
      const uint64_t pages = ChargeAlike(page, run);
      if (pages == 0) Charge(page, run.owner);
      page += std::max<uint64_t>(pages, 1);
    }
  }

 private:
  // Charges at once the pages from `page` on that are without blocks and
  // mappings, or filled by a single one. Returns how many; 0: `page` is mixed.
  uint64_t ChargeAlike(uint64_t page, const PageMap::Run& run) {
    const uint64_t page_bytes = pages_.page_bytes();
    const uint64_t begin = page * page_bytes;
    // Each has its part in the error. A run that is not sampled any more has
    // its old owner where there was no room for another.
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
      end = MappedAlike(begin, end, &charge);
    }
    if (end <= page) return 0;
    charge.bytes = static_cast<double>((end - page) * page_bytes);
    Add(charge);
    return end - page;
  }

  // Takes the pages from address `begin` up to page `end`, which hold no block.
  // Returns up to where they have no mapping, or one fills them and is charged.
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
    // What blocks of a mapping leave of a page is the mapping's.
    all = FindMappings(begin, end);
    if (inside_.empty() && !has_blocks) {
      Add({page, weight, PageCharge::To::kOwner, owner,
           stands_for * page_bytes});
      return;
    }
    if (!inside_.empty()) rest -= AddInside(page, weight, all, rest);
    Add({page, weight, PageCharge::To::kSlack, 0, rest * stands_for});
  }

  // Charges those inside_, `all` bytes, with no more than `room` bytes of the
  // page. Returns with how many.
  double AddInside(uint64_t page, uint32_t weight, double all, double room) {
    const double part = std::min(1.0, room / all);
    for (const auto& [source, bytes] : inside_) {
      Add({page, weight, PageCharge::To::kSource, source,
           bytes * part * weight});
    }
    return all * part;
  }
  // Leaves the mappings' bytes that lie there in inside_; returns their sum.
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
  size_t next_ = 0;  // those before it end before the page
  HeapMappings::Parts::const_iterator next_part_;    // the same
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
