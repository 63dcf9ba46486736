/* Of early_calls.c: calls of condition variables. */
#ifndef PYMEMRUN_TESTS_FAULTS_EARLY_WAITS_H_
#define PYMEMRUN_TESTS_FAULTS_EARLY_WAITS_H_

#include <pthread.h>
#include <time.h>

static long call_pthread_cond_init(void) {
  pthread_cond_t cond;
  return pthread_cond_init(&cond, NULL) * 2 + pthread_cond_destroy(&cond);
}
static long call_pthread_cond_signal(void) {
  pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
  return pthread_cond_signal(&cond);
}

/* One whose time has come, and one that is refused. */
static long call_pthread_cond_timedwait(void) {
  pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  const struct timespec past = {1, 0};
  pthread_mutex_lock(&mutex);
  const int result = pthread_cond_timedwait(&cond, &mutex, &past);
  return result * 2 + pthread_mutex_unlock(&mutex);
}
static long call_pthread_cond_wait(void) {
  pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
  pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
  return pthread_cond_wait(&cond, &mutex);
}

#endif  // PYMEMRUN_TESTS_FAULTS_EARLY_WAITS_H_
