// A hash table of fixed size in memory that the caller provides: open
// addressing, linear probing, deletion by shifting back. For keys that are
// addresses. Not thread safe.
#ifndef PYMEMRUN_TRACER_BASE_POINTER_TABLE_H_
#define PYMEMRUN_TRACER_BASE_POINTER_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tracer/base/own_memory.h"

namespace pymemrun {

// Entry has `bool empty() const`, `uint64_t hash() const` and is trivially
// copyable; all zero bytes is an empty one. kSize is a power of two.
template <typename Entry, uint32_t kSize>
class PointerTable {
 public:
  static constexpr size_t kBytes = sizeof(Entry) * kSize;
  static constexpr uint32_t kMaxUsed = kSize - kSize / 4;
  static_assert((kSize & (kSize - 1)) == 0);

  // Where the search for an entry of that hash begins.
  static uint32_t Index(uint64_t hash) {
    return static_cast<uint32_t>(hash >> 32) & (kSize - 1);
  }

  // `memory`: kBytes of zeros. If it is of OwnMemory::MapTold(), that is told.
  void Use(void* memory) {
    entries_ = static_cast<Entry*>(memory);
    used_ = 0;
  }

  // The entry that `same(entry)` holds for, or the empty one where it would go.
  template <typename Same>
  Entry* Find(uint64_t hash, Same same) {
    uint32_t i = Index(hash);
    while (!entries_[i].empty() && !same(entries_[i]))
      i = (i + 1) & (kSize - 1);
    return &entries_[i];
  }

  bool full() const { return used_ >= kMaxUsed; }
  uint32_t used() const { return used_; }

  // REQUIRES: `slot` is the empty entry that Find gave, !full().
  void Insert(Entry* slot, const Entry& entry) {
    OwnMemory::Wrote(slot, sizeof(*slot));
    *slot = entry;
    ++used_;
  }

  // REQUIRES: `slot` is in use.
  void Erase(Entry* slot) {
    --used_;
    uint32_t hole = static_cast<uint32_t>(slot - entries_);
    uint32_t i = hole;
    for (;;) {
      entries_[hole] = Entry{};
      for (;;) {
        i = (i + 1) & (kSize - 1);
        if (entries_[i].empty()) return;
        // An entry may fill the hole unless its home is after it.
        const uint32_t home = Index(entries_[i].hash());
        if (((i - home) & (kSize - 1)) >= ((i - hole) & (kSize - 1))) break;
      }
      entries_[hole] = entries_[i];
      hole = i;
    }
  }

  template <typename Dead>
  void EraseIf(Dead dead) {
    for (uint32_t i = 0; i < kSize;) {
      // Erasing may bring another entry to the same place.
      if (!entries_[i].empty() && dead(entries_[i])) {
        Erase(&entries_[i]);
      } else {
        ++i;
      }
    }
  }

  void Clear() {
    memset(static_cast<void*>(entries_), 0, kBytes);
    used_ = 0;
  }

 private:
  Entry* entries_ = nullptr;
  uint32_t used_ = 0;
};

// Spreads addresses, which are multiples of 8 or 16 and close together.
inline uint64_t HashAddress(const void* address) {
  return reinterpret_cast<uintptr_t>(address) * 0x9E3779B97F4A7C15u;
}
inline uint64_t HashTwo(const void* a, const void* b) {
  return (reinterpret_cast<uintptr_t>(a) ^
          (reinterpret_cast<uintptr_t>(b) * 0xC2B2AE3D27D4EB4Fu)) *
         0x9E3779B97F4A7C15u;
}

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_BASE_POINTER_TABLE_H_
