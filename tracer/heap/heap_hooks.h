// The hooks on CPython's allocators (PEP 445): raw, mem and obj.
//
// The domains lie on each other: what pymalloc has no room for it asks of the
// raw one. A block counts once, as that of the uppermost domain that is hooked.
// The obj and mem hooks run under the GIL, the raw one with or without; before
// Python code runs and after the interpreter has ended, too. A hook allocates
// nothing, and gives back what the allocator gave: NULL where that failed.
//
// Blocks from before the hooks may be freed through them, and none outlives the
// way to its allocator: hooks are never taken out, they only forward.
#ifndef PYMEMRUN_TRACER_HEAP_HEAP_HOOKS_H_
#define PYMEMRUN_TRACER_HEAP_HEAP_HOOKS_H_

#include "tracer/base/heap_config.h"

namespace pymemrun {

class HeapHooks {
 public:
  // Makes and touches the tables of `config`'s mode. `config` must stay.
  // `followed`: forked children are to know which blocks were sampled. Returns
  // false with errno set.
  static bool Create(const HeapConfig* config, bool followed);
  // Puts the hooks in. GIL; one thread runs Python code, or none.
  static void Install();

  // Whether allocations are sampled, so that rates may be set.
  static bool samples();
  // Other rates from here on. Returns false where that takes other hooks, and
  // another tool's lie over ours. GIL. REQUIRES: samples(), Install().
  static bool SetRates(const HeapRatesConfig& rates);
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_HEAP_HEAP_HOOKS_H_
