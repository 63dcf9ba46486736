// Allocations that the interpreter makes only because calls are traced.
#ifndef PYMEMRUN_TRACER_HEAP_MADE_BY_TRACING_H_
#define PYMEMRUN_TRACER_HEAP_MADE_BY_TRACING_H_

#include <cstddef>
#include <cstdint>

#include "tracer/cpython/compat.h"

namespace pymemrun {

// Whether the block just requested from the obj (0), mem (1) or raw (2) domain
// is such an allocation. `tstate`: holder of the GIL, or null.
template <uint32_t D>
inline bool IsTracings(PyThreadState* tstate, size_t size) {
  if (D == 2 || tstate == nullptr || tstate->c_profilefunc == nullptr) {
    return false;
  }
  if (D == 1) return PymemrunIsLineArray(tstate, size) != 0;
  return PymemrunIsForProfiling(tstate, size) != 0;
}

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_HEAP_MADE_BY_TRACING_H_
