// Where the next block comes from: what the codec of HeapBatch knows of
// CPython's small-block allocator. FORMAT.md has the rules.
#ifndef PYMEMRUN_FORMAT_BATCHES_HEAP_POOLS_H_
#define PYMEMRUN_FORMAT_BATCHES_HEAP_POOLS_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace pymemrun {

// CPython gives out small blocks from pools of 16 KiB, each with blocks of one
// class of sizes. The one freed last comes first, then those never used, in
// order. A pool that was full comes first of its class when a block of it is
// freed. Constant size; whatever it is told, it only guesses. Not thread safe.
class HeapPools {
 public:
  static constexpr uint32_t kClasses = 33;
  static constexpr uint64_t kSmallBytes = 512;

  HeapPools() { Reset(); }
  void Reset();

  // 1 to 32; 0: not from a pool.
  static uint32_t ClassOf(uint64_t size) {
    if (size > kSmallBytes) return 0;
    return size == 0 ? 1 : static_cast<uint32_t>((size + 15) / 16);
  }
  // The next block of a class above 0.
  uint64_t Next(uint32_t size_class) const;
  void Allocated(uint64_t address, uint32_t size_class);
  // Any block: it is looked up whether it is of a pool that is known.
  void Freed(uint64_t address);

 private:
  static constexpr int kPoolShift = 14;
  static constexpr uint32_t kPoolUnits = 1 << 10;  // of 16 bytes
  static constexpr uint32_t kFirstUnit = 3;        // behind the pool's header
  static constexpr size_t kPools = 1 << 11;
  static constexpr size_t kLinks = 1 << 15;
  static constexpr uint16_t kNone = 0xffff;

  struct Pool {
    uint64_t begin = 0;
    uint16_t freed = 0;  // unit of the block freed last, 0: none
    uint16_t fresh = 0;  // from this unit on no block was given out
    uint16_t next = 0;   // in the list of its class, where it is listed
    uint16_t previous = 0;
    uint8_t size_class = 0;
    bool listed = false;
    bool IsFull() const {
      return freed == 0 && fresh + size_class > kPoolUnits;
    }
  };

  static size_t PoolAt(uint64_t address) {
    return (address >> kPoolShift) & (kPools - 1);
  }
  static uint64_t BeginOf(uint64_t address) {
    return address >> kPoolShift << kPoolShift;
  }
  static uint16_t UnitOf(uint64_t address) {
    return static_cast<uint16_t>((address >> 4) & (kPoolUnits - 1));
  }
  uint16_t& LinkOf(uint64_t address) {
    return links_[(address >> 4) & (kLinks - 1)];
  }
  void PutFirst(size_t at);
  void TakeOut(size_t at);
  void Renew(size_t at, uint64_t address, uint32_t size_class);

  std::array<Pool, kPools> pools_;
  // For a freed block: the unit of the block freed before it in its pool.
  std::array<uint16_t, kLinks> links_;
  std::array<uint16_t, kClasses> first_;
  uint64_t newest_;  // the pool met last for the first time
};

inline uint64_t HeapPools::Next(uint32_t size_class) const {
  const uint16_t at = first_[size_class];
  if (at == kNone) {
    return newest_ + (uint64_t{kPoolUnits} + kFirstUnit) * 16;
  }
  const Pool& pool = pools_[at];
  return pool.begin + 16 * uint64_t{pool.freed != 0 ? pool.freed : pool.fresh};
}

inline void HeapPools::PutFirst(size_t at) {
  Pool& pool = pools_[at];
  uint16_t& first = first_[pool.size_class];
  pool.next = first;
  pool.previous = kNone;
  pool.listed = true;
  if (first != kNone) pools_[first].previous = static_cast<uint16_t>(at);
  first = static_cast<uint16_t>(at);
}

inline void HeapPools::TakeOut(size_t at) {
  Pool& pool = pools_[at];
  if (!pool.listed) return;
  pool.listed = false;
  if (pool.next != kNone) pools_[pool.next].previous = pool.previous;
  if (pool.previous != kNone) {
    pools_[pool.previous].next = pool.next;
  } else {
    first_[pool.size_class] = pool.next;
  }
}

inline void HeapPools::Allocated(uint64_t address, uint32_t size_class) {
  const size_t at = PoolAt(address);
  if (pools_[at].begin != BeginOf(address) ||
      pools_[at].size_class != size_class) {
    Renew(at, address, size_class);
  }
  Pool& pool = pools_[at];
  const uint16_t unit = UnitOf(address);
  if (pool.freed == unit) pool.freed = LinkOf(address);
  if (pool.fresh <= unit) {
    pool.fresh = static_cast<uint16_t>(unit + size_class);
  }
  if (pool.IsFull()) {
    TakeOut(at);
  } else if (first_[size_class] != at) {
    TakeOut(at);
    PutFirst(at);
  }
}

inline void HeapPools::Freed(uint64_t address) {
  const size_t at = PoolAt(address);
  Pool& pool = pools_[at];
  if (pool.begin != BeginOf(address) || pool.size_class == 0) return;
  LinkOf(address) = pool.freed;
  pool.freed = UnitOf(address);
  if (!pool.listed) PutFirst(at);
}

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_BATCHES_HEAP_POOLS_H_
