// Rendered parts of rows that depend only on an id (a site, a thread). Rows
// copy them instead of formatting names again.
#ifndef PYMEMRUN_READERS_REPLAY_ROWS_TEXT_CACHE_H_
#define PYMEMRUN_READERS_REPLAY_ROWS_TEXT_CACHE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace pymemrun {

// Text by (slot, id). Bounded: when the texts exceed kMaxBytes, all are
// dropped. Ids above kMaxId are rendered every time. Not thread safe.
class TextCache {
 public:
  // Bytes of texts for all slots together.
  static constexpr size_t kMaxBytes = 8 << 20;
  static constexpr uint32_t kMaxId = 1 << 18;

  // The text of (slot, id); calls render(std::string* out) if it is not cached.
  // Valid until the next call.
  template <typename Render>
  absl::string_view Get(uint32_t slot, uint32_t id, Render render) {
    if (slot < slots_.size() && id < slots_[slot].size()) {
      const Entry& entry = slots_[slot][id];
      if (entry.generation == generation_) {
        return {texts_.data() + entry.offset, entry.size};
      }
    }
    return Add(slot, id, render);
  }

  void Clear() {
    texts_.clear();
    ++generation_;
  }

 private:
  // An entry is valid if it has the cache's generation: clearing touches no
  // entry.
  struct Entry {
    uint32_t generation = 0;
    uint32_t offset = 0;
    uint32_t size = 0;
  };

  // Renders into `texts_` directly. A pointer to it may move with the next
  // text.
  template <typename Render>
  absl::string_view Add(uint32_t slot, uint32_t id, Render render) {
    if (id > kMaxId) {
      spare_.clear();
      render(&spare_);
      return spare_;
    }
    if (texts_.size() > kMaxBytes) Clear();
    if (slot >= slots_.size()) slots_.resize(slot + 1);
    if (id >= slots_[slot].size()) slots_[slot].resize(id + id / 2 + 64);
    Entry& entry = slots_[slot][id];
    entry.generation = generation_;
    entry.offset = static_cast<uint32_t>(texts_.size());
    render(&texts_);
    entry.size = static_cast<uint32_t>(texts_.size()) - entry.offset;
    return {texts_.data() + entry.offset, entry.size};
  }

  std::vector<std::vector<Entry>> slots_;
  std::string texts_;
  // The text of an id above kMaxId.
  std::string spare_;
  uint32_t generation_ = 1;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_ROWS_TEXT_CACHE_H_
