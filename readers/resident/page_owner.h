// Who a resident page is charged to.
#ifndef PYMEMRUN_READERS_RESIDENT_PAGE_OWNER_H_
#define PYMEMRUN_READERS_RESIDENT_PAGE_OWNER_H_

#include <cstdint>
#include <utility>

#include "readers/places/place_table.h"

namespace pymemrun {

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
  // By scan, of anonymous memory: whose doing RSS grew by most meanwhile.
  uint32_t ran_stack = 0, ran_thread = 0;
  uint32_t waits = 0;  // see Origin

  bool before_tracing() const { return thread == 0 && !by_scan; }
  Origin origin() const {
    return {.stack = stack,
            .thread = thread,
            .mapping = mapping,
            .module = code_mapping,
            .waits = waits};
  }
  // Who brought it, or seems to have.
  Origin likely_origin() const {
    Origin likely = origin();
    if (ran_stack != 0) likely.stack = ran_stack, likely.thread = ran_thread;
    return likely;
  }
  friend bool operator==(const PageOwner& a, const PageOwner& b) {
    return a.stack == b.stack && a.thread == b.thread &&
           a.code_mapping == b.code_mapping && a.mapping == b.mapping &&
           a.task == b.task && a.weight == b.weight &&
           a.inferred == b.inferred && a.by_scan == b.by_scan &&
           a.ran_stack == b.ran_stack && a.ran_thread == b.ran_thread &&
           a.waits == b.waits;
  }
  template <typename H>
  friend H AbslHashValue(H h, const PageOwner& o) {
    return H::combine(std::move(h), o.stack, o.thread, o.code_mapping,
                      o.mapping, o.task, o.weight, o.inferred, o.by_scan,
                      o.ran_stack, o.ran_thread, o.waits);
  }
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RESIDENT_PAGE_OWNER_H_
