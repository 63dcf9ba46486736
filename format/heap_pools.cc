#include "format/heap_pools.h"

namespace pymemrun {

void HeapPools::Reset() {
  pools_.fill(Pool());
  links_.fill(0);
  first_.fill(kNone);
  newest_ = 0;
}

uint64_t HeapPools::Next(uint32_t size_class) const {
  const uint16_t at = first_[size_class];
  if (at == kNone) {
    return newest_ + (uint64_t{kPoolUnits} + kFirstUnit) * 16;
  }
  const Pool& pool = pools_[at];
  return pool.begin + 16 * uint64_t{pool.freed != 0 ? pool.freed : pool.fresh};
}

void HeapPools::PutFirst(size_t at) {
  Pool& pool = pools_[at];
  uint16_t& first = first_[pool.size_class];
  pool.next = first;
  pool.previous = kNone;
  pool.listed = true;
  if (first != kNone) pools_[first].previous = static_cast<uint16_t>(at);
  first = static_cast<uint16_t>(at);
}

void HeapPools::TakeOut(size_t at) {
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

void HeapPools::Renew(size_t at, uint64_t address, uint32_t size_class) {
  TakeOut(at);
  Pool pool;
  pool.begin = BeginOf(address);
  pool.fresh = UnitOf(address);
  pool.size_class = static_cast<uint8_t>(size_class);
  pools_[at] = pool;
  newest_ = pool.begin;
}

void HeapPools::Allocated(uint64_t address, uint32_t size_class) {
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

void HeapPools::Freed(uint64_t address) {
  const size_t at = PoolAt(address);
  Pool& pool = pools_[at];
  if (pool.begin != BeginOf(address) || pool.size_class == 0) return;
  LinkOf(address) = pool.freed;
  pool.freed = UnitOf(address);
  if (!pool.listed) PutFirst(at);
}

}  // namespace pymemrun
