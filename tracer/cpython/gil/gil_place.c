// Up to 3.11 there is one GIL, in the runtime's state. From 3.12 on each
// interpreter points at its own, or at the main one's.
#define Py_BUILD_CORE 1
#include "tracer/cpython/gil/gil_place.h"

#include <Python.h>

#include "internal/pycore_interp.h"
#include "internal/pycore_pystate.h"
#include "internal/pycore_runtime.h"

PymemrunGilPlace PymemrunMainGil(void) {
  PymemrunGilPlace place = {NULL, NULL, 0, 1};
#if PY_VERSION_HEX >= 0x030C0000
  const PyInterpreterState* main = PyInterpreterState_Main();
  if (main != NULL && main->ceval.gil != NULL) {
#ifdef Py_GIL_DISABLED
    place.in_force = main->ceval.gil->enabled != 0;
#endif
    place.freed = &main->ceval.gil->cond;
    place.taken = &main->ceval.gil->switch_cond;
    place.number = 1;
  }
#else
  place.number = 1;
  place.freed = &_PyRuntime.ceval.gil.cond;
  place.taken = &_PyRuntime.ceval.gil.switch_cond;
#endif
  return place;
}

PymemrunGilPlace PymemrunNewGil(const pthread_cond_t* taken) {
  PymemrunGilPlace place = {NULL, NULL, 0, 1};
#if PY_VERSION_HEX >= 0x030C0000 && !defined(Py_GIL_DISABLED)
  // An interpreter stands in the list before it makes its GIL.
  PyInterpreterState* newest = PyInterpreterState_Head();
  if (newest != NULL && newest != PyInterpreterState_Main() &&
      taken == &newest->_gil.switch_cond) {
    place.freed = &newest->_gil.cond;
    place.taken = taken;
    place.number = 1 + (uint64_t)PyInterpreterState_GetID(newest);
  }
#else
  (void)taken;
#endif
  return place;
}
