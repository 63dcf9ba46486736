#include "readers/page_map.h"

#include <algorithm>

namespace pymemrun {

bool PageMap::Block::empty() const {
  return std::all_of(std::begin(owner), std::end(owner),
                     [](uint32_t id) { return id == 0; });
}

PageMap::Block* PageMap::Find(uint64_t number) const {
  if (last_ != nullptr && last_number_ == number) return last_;
  const auto found = blocks_.find(number);
  if (found == blocks_.end()) return nullptr;
  last_number_ = number;
  return last_ = found->second;
}

PageMap::Block* PageMap::Make(uint64_t number) {
  Block* block = Find(number);
  if (block != nullptr) return block;
  if (blocks_.size() >= max_blocks_) return nullptr;
  if (free_.empty()) {
    block = &store_.emplace_back();
  } else {
    block = free_.back();
    free_.pop_back();
  }
  blocks_.emplace(number, block);
  last_number_ = number;
  return last_ = block;
}

PageMap::Page PageMap::Get(uint64_t page) const {
  const Block* block = Find(page / kBlockPages);
  if (block == nullptr) return {};
  return {block->owner[page % kBlockPages], block->came_us[page % kBlockPages]};
}

bool PageMap::Set(uint64_t page, const Page& value) {
  Block* block = Make(page / kBlockPages);
  if (block == nullptr) return false;
  block->owner[page % kBlockPages] = value.owner;
  block->came_us[page % kBlockPages] = value.came_us;
  return true;
}

}  // namespace pymemrun
