// What a thread of a free-threaded interpreter waits for. It parks at a
// semaphore on its own stack, beside which CPython notes why
// (Python/parking_lot.c).
#ifndef PYMEMRUN_TRACER_CPYTHON_GIL_LOCK_PLACE_H_
#define PYMEMRUN_TRACER_CPYTHON_GIL_LOCK_PLACE_H_

#ifdef __cplusplus
extern "C" {
#endif

typedef enum PymemrunParked {
  PYMEMRUN_NOT_PARKED,     // it waits for something else
  PYMEMRUN_FOR_LOCK,       // of an object, or of the interpreter
  PYMEMRUN_STANDS_STILL,   // another thread has stopped all
  PYMEMRUN_STOPS_OTHERS,   // it stops all, and waits until they stand still
  PYMEMRUN_DOES_NOT_WAIT,  // there is no semaphore
} PymemrunParked;

// To be called once before the next, with the interpreter initialised, by a
// thread that may run Python.
void PymemrunKnowLocks(void);
// What the calling thread is about to wait for at `semaphore`, called from
// `caller`; null: only whether that is the interpreter. Locks of the program
// (`threading`) are not of the interpreter. Calls no Python code, keeps errno.
PymemrunParked PymemrunParkedFor(const void* semaphore, const void* caller);

#ifdef __cplusplus
}
#endif

#endif  // PYMEMRUN_TRACER_CPYTHON_GIL_LOCK_PLACE_H_
