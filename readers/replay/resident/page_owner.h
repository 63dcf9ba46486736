// Who a resident page is charged to.
#ifndef PYMEMRUN_READERS_REPLAY_RESIDENT_PAGE_OWNER_H_
#define PYMEMRUN_READERS_REPLAY_RESIDENT_PAGE_OWNER_H_

#include <cstdint>
#include <utility>

#include "readers/places/place_table.h"

namespace pymemrun {

// By whose doing RSS grew. Ids are those of the run file. Stack 0: nobody
// knows.
struct WhoRan {
  uint32_t stack = 0, thread = 0;
  uint32_t waits = 0;  // see Origin

  friend bool operator==(const WhoRan& a, const WhoRan& b) = default;
  template <typename H>
  friend H AbslHashValue(H h, const WhoRan& ran) {
    return H::combine(std::move(h), ran.stack, ran.thread, ran.waits);
  }
};

// Ids are those of the run file.
struct PageOwner {
  uint32_t stack = 0;
  uint32_t thread = 0;        // 0: before tracing
  uint32_t code_mapping = 0;  // of the instruction
  uint32_t mapping = 0;       // what the page was part of when it came
  uint32_t task = 0;          // whose step brought it, if that is told apart
  uint32_t weight = 1;        // each page stands for so many
  bool inferred = false;
  bool by_scan = false;  // nobody saw who brought it
  // By scan: whose doing RSS grew by most meanwhile, if that is sure. Of files
  // only where calls are recorded.
  WhoRan ran;
  // Likewise, sure or not. Imports hardly use pools.
  WhoRan ran_beside_imports;
  uint32_t waits = 0;  // see Origin

  bool before_tracing() const { return thread == 0 && !by_scan; }
  Origin origin() const {
    return {.stack = stack,
            .thread = thread,
            .mapping = mapping,
            .module = code_mapping,
            .waits = waits};
  }
  // Who brought it, or seems to have; as part of a library's pool.
  Origin likely_origin() const { return OriginBy(ran); }
  Origin likely_pool_origin() const {
    return OriginBy(ran_beside_imports.stack != 0 ? ran_beside_imports : ran);
  }
  Origin OriginBy(const WhoRan& who) const {
    Origin likely = origin();
    if (who.stack == 0) return likely;
    likely.stack = who.stack;
    likely.thread = who.thread;
    likely.waits = who.waits;
    return likely;
  }
  friend bool operator==(const PageOwner& a, const PageOwner& b) = default;
  template <typename H>
  friend H AbslHashValue(H h, const PageOwner& o) {
    return H::combine(std::move(h), o.stack, o.thread, o.code_mapping,
                      o.mapping, o.task, o.weight, o.inferred, o.by_scan, o.ran,
                      o.ran_beside_imports, o.waits);
  }
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_RESIDENT_PAGE_OWNER_H_
