// The reply page: everything the collector tells the traced process. The
// collector writes it, the traced process only reads it. ring_layout.h
// describes the whole wire.
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

// Returns whether the thread that held a robust mutex in shared memory for its
// whole life has ended, reaped or not. The kernel sets this bit however the
// thread ended.
inline bool HolderDied(const pthread_mutex_t& mutex) {
  return (__atomic_load_n(&mutex.__data.__lock, __ATOMIC_ACQUIRE) &
          FUTEX_OWNER_DIED) != 0;
}

// Initialises such a mutex. REQUIRES: both processes map the memory.
inline void MakeSignOfLife(pthread_mutex_t* mutex) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

inline constexpr size_t kReplyBytes = 65536;  // a multiple of any page size

// Written by the collector. The traced process has only ever had a read-only
// descriptor, so it cannot write here.
struct ReplyPage {
  alignas(64) std::atomic<uint64_t> tail;  // slots consumed (release)
  std::atomic<uint32_t> heartbeat;         // changes at least every 100 ms
  std::atomic<uint32_t> collector_pid;     // 0 until the collector is ready
  std::atomic<uint32_t> wake_producer;     // futex word, a counter
  std::atomic<uint32_t> collector_sleeps;  // 1 while it waits in futex
  // Rows in frames that were written whole, context included. Updated after
  // each frame.
  std::atomic<uint64_t> rows_in_file;

  alignas(64) std::atomic<uint64_t> side_tail;  // cells consumed (release)
  // 1: resident pages were scanned after finalize_ns was set (release).
  std::atomic<uint64_t> end_scans;

  // The last order for a dump (dump_order.h; release).
  alignas(64) std::atomic<uint32_t> dump_order;
  std::atomic<uint32_t> sends_order;  // 1 while its signal is sent

  // Results at the end, valid once done_state is 1 (release; a futex word).
  alignas(64) std::atomic<uint32_t> done_state;  // 1: the run file is complete
  int32_t write_errno;  // 0, or why the file is not complete
  uint64_t file_bytes;
  uint64_t rows_written;
  uint64_t rows_lost_on_write;
  uint32_t report_bytes;
  char report[4096];  // the end report's text, ready to print

  // Held by the main thread of the collector, from before collector_pid is set.
  // libc follows pointers in the mutex, so it must be in memory that only the
  // collector writes.
  alignas(64) pthread_mutex_t collector_alive;
};
static_assert(sizeof(ReplyPage) <= kReplyBytes);

// Returns the reply page, which the traced process maps directly before the
// region. REQUIRES: `page` begins the region as the traced process maps it.
inline const ReplyPage& ReplyOf(const ControlPage* page) {
  return *reinterpret_cast<const ReplyPage*>(
      reinterpret_cast<const char*>(page) - kReplyBytes);
}

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_WIRE_REPLY_PAGE_H_
