// Whether Python's cycle collector is at work.
#define Py_BUILD_CORE 1
#include "tracer/cpython/compat.h"

#include "internal/pycore_interp.h"

int PymemrunIsCollecting(const PyThreadState* tstate) {
#ifdef Py_GIL_DISABLED
  // Others run while the flag is set.
  return 0;
#else
  return PymemrunGilHolder() == tstate && tstate->interp->gc.collecting;
#endif
}
