// Hooks on the allocators of CPython (PEP 445): raw, mem and obj.
//
// The domains call each other: pymalloc passes requests that it cannot serve to
// the raw domain. A block counts once, for the uppermost hooked domain. The obj
// and mem hooks run under the GIL, the raw hook with or without it; also before
// Python code runs and after the interpreter has ended. A hook allocates
// nothing, and returns what the allocator returned: NULL on failure.
//
// Blocks from before the hooks may be freed through them, and hooks are never
// removed: they only forward. So every block can reach its allocator.
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
