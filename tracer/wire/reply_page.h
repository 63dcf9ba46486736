// The reply page: what the collector says. ring_layout.h has the whole.
#ifndef PYMEMRUN_TRACER_WIRE_REPLY_PAGE_H_
#define PYMEMRUN_TRACER_WIRE_REPLY_PAGE_H_

#include <linux/futex.h>
#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/wire/control_page.h"
#include "tracer/wire/dump_order.h"

namespace pymemrun {

// Of a robust mutex in shared memory that a thread holds for its whole life:
// whether that thread has ended, reaped or not. The kernel says so, however it
// ended.
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

inline constexpr size_t kReplyBytes = 65536;  // a multiple of any page size

// What the collector tells the traced process, which cannot write here: it has
// only ever had a descriptor to read it by.
struct ReplyPage {
  alignas(64) std::atomic<uint64_t> tail;  // slots consumed (release)
  std::atomic<uint32_t> heartbeat;         // changes at least each 100 ms
  std::atomic<uint32_t> collector_pid;     // 0 until it is ready
  std::atomic<uint32_t> wake_producer;     // futex word, a counter
  std::atomic<uint32_t> collector_sleeps;  // 1 while it is in futex_wait
  // In frames that were written whole, context included; set after each frame.
  std::atomic<uint64_t> rows_in_file;

  alignas(64) std::atomic<uint64_t> side_tail;  // cells consumed (release)
  // 1: it has asked what is resident since finalize_ns was set (release).
  std::atomic<uint64_t> end_scans;

  // The dump that is wanted last (dump_order.h; release).
  alignas(64) std::atomic<uint32_t> dump_order;
  std::atomic<uint32_t> sends_order;  // 1 while its signal is being sent

  // The answer at the end, released by done_state (futex word).
  alignas(64) std::atomic<uint32_t> done_state;  // 1: the run file is complete
  int32_t write_errno;  // 0, or why the file is not complete
  uint64_t file_bytes;
  uint64_t rows_written;
  uint64_t rows_lost_on_write;
  uint32_t report_bytes;
  char report[4096];  // the end report's text, ready to print

  // Held by the collector's main thread, from before collector_pid is set. libc
  // follows pointers in it, so it lies where the collector alone writes.
  alignas(64) pthread_mutex_t collector_alive;
};
static_assert(sizeof(ReplyPage) <= kReplyBytes);

// The traced process maps the reply right before the region. REQUIRES: `page`
// begins the region as the traced process maps it.
inline const ReplyPage& ReplyOf(const ControlPage* page) {
  return *reinterpret_cast<const ReplyPage*>(
      reinterpret_cast<const char*>(page) - kReplyBytes);
}

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_WIRE_REPLY_PAGE_H_
