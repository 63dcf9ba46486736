// Up to 3.11 there is one GIL, in the runtime's state. From 3.12 on each
// interpreter points at its own, or at the main one's.
#define Py_BUILD_CORE 1
#include "tracer/cpython/gil_place.h"

#include "tracer/cpython/compat.h"

#include "internal/pycore_interp.h"
#include "internal/pycore_pystate.h"
#include "internal/pycore_runtime.h"

PymemrunGilPlace PymemrunMainGil(void) {
  PymemrunGilPlace place = {NULL, NULL};
#if defined(Py_GIL_DISABLED)
  (void)place;
#elif PY_VERSION_HEX >= 0x030C0000
  const PyInterpreterState* main = PyInterpreterState_Main();
  if (main != NULL && main->ceval.gil != NULL) {
    place.freed = &main->ceval.gil->cond;
    place.taken = &main->ceval.gil->switch_cond;
  }
#else
  place.freed = &_PyRuntime.ceval.gil.cond;
  place.taken = &_PyRuntime.ceval.gil.switch_cond;
#endif
  return place;
}
