// Hears when the interpreter begins to finalise, where it is part of the
// executable: its function for that is renamed there (versions.cmake).
#include "tracer/cpython/lifetime.h"

#if defined(PYMEMRUN_STATIC_PYTHON) && PY_VERSION_HEX >= 0x030B0000
static void (*g_begins)(void);

int PymemrunWatchFinalize(void (*begins)(void)) {
  g_begins = begins;
  return 1;
}

// The original, renamed.
void pymemrun_real__PyAtExit_Call(PyInterpreterState* interp);

// The last of the program's code: what the interpreter calls when it has waited
// for threads, before it takes itself down.
void _PyAtExit_Call(PyInterpreterState* interp) {
  pymemrun_real__PyAtExit_Call(interp);
  if (g_begins != NULL && interp == PyInterpreterState_Main()) g_begins();
}
#else
int PymemrunWatchFinalize(void (*begins)(void)) {
  (void)begins;
  return 0;
}
#endif
