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
  // Makes and touches the tables for the mode of `config`, which must stay.
  // `followed`: forked children must know which blocks were sampled. Returns
  // false with errno set on failure.
  static bool Create(const HeapConfig* config, bool followed);
  // Installs the hooks. Needs the GIL; at most one thread runs Python code.
  static void Install();

  // Whether allocations are sampled, so that rates may be set.
  static bool samples();
  // Changes the rates. Returns false if that needs other hooks and another tool
  // has put its hooks over these. Needs the GIL. REQUIRES: samples(),
  // Install().
  static bool SetRates(const HeapRatesConfig& rates);
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_HEAP_HEAP_HOOKS_H_
