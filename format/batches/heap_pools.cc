#include "format/batches/heap_pools.h"

namespace pymemrun {

void HeapPools::Reset() {
  pools_.fill(Pool());
  links_.fill(0);
  first_.fill(kNone);
  newest_ = 0;
}

// Forgets the pool in slot `at` and starts one of this class there. Blocks
// below `address` count as in use. Links of old blocks stay, since a link is
// read only after a block of the pool was freed.
void HeapPools::Renew(size_t at, uint64_t address, uint32_t size_class) {
  TakeOut(at);
  Pool pool;
  pool.begin = BeginOf(address);
  pool.fresh = UnitOf(address);
  pool.size_class = static_cast<uint8_t>(size_class);
  pools_[at] = pool;
  newest_ = pool.begin;
}

}  // namespace pymemrun
