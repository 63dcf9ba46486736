// Where the interpreter keeps a GIL: how its taking and release are seen from
// outside.
#ifndef PYMEMRUN_TRACER_CPYTHON_GIL_GIL_PLACE_H_
#define PYMEMRUN_TRACER_CPYTHON_GIL_GIL_PLACE_H_

#include <pthread.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The condition variables of a GIL. A thread signals `freed` when it lets go,
// and waits for it to take the GIL; it signals `taken` right after it has taken
// the GIL. Both under one mutex of the GIL's. A thread that is made to let go
// waits for `taken`, without that mutex.
typedef struct PymemrunGilPlace {
  const pthread_cond_t* freed;
  const pthread_cond_t* taken;
  uint64_t number;  // 1 + the number of the interpreter that it was made for
  // 0: of a free-threaded interpreter, and not taken unless it is switched on.
  int in_force;
} PymemrunGilPlace;

// The GIL of the main interpreter, valid from its creation on. All 0 without a
// GIL, or if the version is not known.
PymemrunGilPlace PymemrunMainGil(void);
// To be called when `taken` was initialised, which the interpreter does last in
// making a GIL: that GIL. All 0 if `taken` is no part of the GIL of the
// interpreter that was made last. Looks at no memory but that interpreter's,
// and only if it is the one.
PymemrunGilPlace PymemrunNewGil(const pthread_cond_t* taken);

#ifdef __cplusplus
}
#endif

#endif  // PYMEMRUN_TRACER_CPYTHON_GIL_GIL_PLACE_H_
