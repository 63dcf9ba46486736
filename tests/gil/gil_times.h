/* For a CPython that tells when each thread enters and leaves take_gil and
 * drop_gil (build_timed_python puts this at the end of Python/ceval_gil.h). Where
 * $GIL_TIMES names a file, entries are appended to it: time in nanoseconds of
 * CLOCK_MONOTONIC (8 bytes), thread (4), what (4): 0 take, 1 taken, 2 drop, 3
 * dropped. It has room for 4 million. */
#ifndef PYMEMRUN_TESTS_GIL_GIL_TIMES_H_
#define PYMEMRUN_TESTS_GIL_GIL_TIMES_H_

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct gil_time {
  uint64_t time_ns;
  uint32_t thread, what;
};

static struct gil_time* gil_times;
static uint64_t gil_times_used;
enum { kGilTimes = 1 << 22 };

__attribute__((constructor)) static void open_gil_times(void) {
  const char* path = getenv("GIL_TIMES");
  if (path == NULL) return;
  const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, kGilTimes * sizeof(struct gil_time)) != 0) {
    abort();
  }
  gil_times = mmap(NULL, kGilTimes * sizeof(struct gil_time),
                   PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (gil_times == MAP_FAILED) abort();
  close(file);
}

static void note_gil_time(uint32_t what) {
  static __thread uint32_t thread;
  if (gil_times == NULL) return;
  if (thread == 0) thread = (uint32_t)syscall(SYS_gettid);
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const uint64_t at =
      __atomic_fetch_add(&gil_times_used, 1, __ATOMIC_RELAXED);
  if (at >= kGilTimes) abort();
  gil_times[at] = (struct gil_time){
      (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec, thread, what};
}

static void drop_gil(struct _ceval_runtime_state* ceval,
                     struct _ceval_state* ceval2, PyThreadState* tstate) {
  note_gil_time(2);
  untimed_drop_gil(ceval, ceval2, tstate);
  note_gil_time(3);
}

static void take_gil(PyThreadState* tstate) {
  note_gil_time(0);
  untimed_take_gil(tstate);
  note_gil_time(1);
}

#endif  // PYMEMRUN_TESTS_GIL_GIL_TIMES_H_
