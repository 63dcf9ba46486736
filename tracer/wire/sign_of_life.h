// A robust mutex in shared memory, held by a thread for its whole life: others
// see when it has ended.
#ifndef PYMEMRUN_TRACER_WIRE_SIGN_OF_LIFE_H_
#define PYMEMRUN_TRACER_WIRE_SIGN_OF_LIFE_H_

#include <linux/futex.h>
#include <pthread.h>

namespace pymemrun {

// Of a robust mutex that a thread holds for its life: whether that thread has
// ended, reaped or not. The kernel says so, however it ended.
inline bool HolderDied(const pthread_mutex_t& mutex) {
  return (__atomic_load_n(&mutex.__data.__lock, __ATOMIC_ACQUIRE) &
          FUTEX_OWNER_DIED) != 0;
}

// Makes such a mutex, in memory that both processes map.
inline void MakeSignOfLife(pthread_mutex_t* mutex) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_WIRE_SIGN_OF_LIFE_H_
