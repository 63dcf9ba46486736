// Held by the module's functions while they put something into the event ring.
// The GIL is what guards it, where there is one.
#ifndef PYMEMRUN_TRACER_SESSION_RING_LOCK_H_
#define PYMEMRUN_TRACER_SESSION_RING_LOCK_H_

#include <Python.h>

namespace pymemrun {

#ifdef Py_GIL_DISABLED
class RingLock {
 public:
  RingLock() { PyMutex_Lock(&mutex_); }
  ~RingLock() { PyMutex_Unlock(&mutex_); }
  RingLock(const RingLock&) = delete;
  RingLock& operator=(const RingLock&) = delete;

 private:
  static inline PyMutex mutex_ = {0};
};
#else
struct RingLock {
  RingLock() {}
  ~RingLock() {}
};
#endif

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_SESSION_RING_LOCK_H_
