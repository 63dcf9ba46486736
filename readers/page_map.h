// Which pages are resident and who owns each: the memory of ResidentModel.
#ifndef PYMEMRUN_READERS_PAGE_MAP_H_
#define PYMEMRUN_READERS_PAGE_MAP_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/container/btree_map.h"

namespace pymemrun {

// Pages with an owner each (a number above 0) and when it came. Pages lie in
// blocks of 16, which memory is taken for: about 14 bytes for each page where
// they are dense, 220 where each lies alone. Not thread safe.
class PageMap {
 public:
  struct Page {
    uint32_t owner = 0;  // 0: the page is not there
    uint64_t came_us = 0;
  };

  // At most so many blocks: 64 GiB of small pages where they are dense.
  static constexpr size_t kMaxBlocks = size_t{1} << 20;

  explicit PageMap(size_t max_blocks = kMaxBlocks) : max_blocks_(max_blocks) {}

  Page Get(uint64_t page) const;
  // Puts a page there, or changes it; false: there is no room for it.
  // REQUIRES: value.owner != 0.
  bool Set(uint64_t page, const Page& value);
  // Calls visit(page, &value) for each page there from `begin` up to, and
  // without, `end`, in their order. It may change the value, also to owner 0;
  // it must not call anything else of this map.
  template <typename Visit>
  void ForRange(uint64_t begin, uint64_t end, Visit visit);
  // The same with values that stay.
  template <typename Visit>
  void ForRange(uint64_t begin, uint64_t end, Visit visit) const;
  template <typename Visit>
  void ForEach(Visit visit) const {
    ForRange(0, UINT64_MAX, visit);
  }
  size_t blocks() const { return blocks_.size(); }

 private:
  static constexpr uint64_t kBlockPages = 16;
  struct Block {
    uint32_t owner[kBlockPages] = {};
    uint64_t came_us[kBlockPages] = {};
    bool empty() const;
  };

  Block* Find(uint64_t number) const;
  Block* Make(uint64_t number);

  const size_t max_blocks_;
  absl::btree_map<uint64_t, Block*> blocks_;  // by page / kBlockPages
  std::deque<Block> store_;                   // never moved
  std::vector<Block*> free_;
  // Found last: pages come in rows.
  mutable uint64_t last_number_ = UINT64_MAX;
  mutable Block* last_ = nullptr;
};

template <typename Visit>
void PageMap::ForRange(uint64_t begin, uint64_t end, Visit visit) {
  auto it = blocks_.lower_bound(begin / kBlockPages);
  while (it != blocks_.end() && it->first * kBlockPages < end) {
    Block* const block = it->second;
    for (uint64_t i = 0; i < kBlockPages; ++i) {
      const uint64_t page = it->first * kBlockPages + i;
      if (block->owner[i] == 0 || page < begin || page >= end) continue;
      Page value = {block->owner[i], block->came_us[i]};
      visit(page, &value);
      block->owner[i] = value.owner;
      block->came_us[i] = value.came_us;
    }
    if (!block->empty()) {
      ++it;
      continue;
    }
    free_.push_back(block);
    last_ = nullptr;
    it = blocks_.erase(it);
  }
}

template <typename Visit>
void PageMap::ForRange(uint64_t begin, uint64_t end, Visit visit) const {
  for (auto it = blocks_.lower_bound(begin / kBlockPages);
       it != blocks_.end() && it->first * kBlockPages < end; ++it) {
    for (uint64_t i = 0; i < kBlockPages; ++i) {
      const uint64_t page = it->first * kBlockPages + i;
      if (it->second->owner[i] == 0 || page < begin || page >= end) continue;
      visit(page, Page{it->second->owner[i], it->second->came_us[i]});
    }
  }
}

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PAGE_MAP_H_
