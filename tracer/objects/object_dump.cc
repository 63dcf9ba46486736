#include "tracer/objects/object_dump.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tracer/base/clock.h"
#include "tracer/cpython/abilities.h"
#include "tracer/cpython/objects/object_graph.h"
#include "tracer/objects/child_process.h"

namespace pymemrun {
namespace {

#ifndef PYMEMRUN_NO_OBJECTS
struct Started {
  DumpOrder order;
  ObjectStatus* status;
  int status_fd;
};

void StartChild(void* argument) {
  const Started& started = *static_cast<Started*>(argument);
  RunDumpChild(started.order, started.status, started.status_fd);
}

// Waits until the child may be killed first when memory runs out: from the fork
// on, each page that the program writes is copied. If the child does not get to
// run, waits at most kLongestNs.
void WaitUntilExpendable(ObjectStatus* status) {
  constexpr uint64_t kLongestNs = 100000000;
  const uint64_t until_ns = MonotonicNs() + kLongestNs;
  const timespec step = {0, 10000000};
  while (status->writer.load(std::memory_order_acquire) == 0 &&
         MonotonicNs() < until_ns) {
    syscall(SYS_futex, &status->writer, FUTEX_WAIT, 0, &step, nullptr, 0);
  }
}

ObjectStatus* MapStatus(int fd) {
  if (ftruncate(fd, kObjectStatusBytes) != 0) return nullptr;
  void* page = reinterpret_cast<void*>(
      syscall(SYS_mmap, nullptr, kObjectStatusBytes, PROT_READ | PROT_WRITE,
              MAP_SHARED, fd, 0));
  return page == MAP_FAILED ? nullptr : static_cast<ObjectStatus*>(page);
}
#endif

}  // namespace

const char* ObjectDump::WhyNot() {
  if (kFreeThreaded) {
    return "objects of a free-threaded interpreter cannot be dumped";
  }
  return kDumpsObjects ? nullptr
                       : "objects of this version of Python cannot be dumped";
}

// The program stands still from `since_ns` until this returns, with the GIL
// held.
int ObjectDump::Start(const DumpOrder& order, uint64_t since_ns) {
#ifdef PYMEMRUN_NO_OBJECTS
  return ENOSYS;
#else
  const int fd =
      static_cast<int>(syscall(SYS_memfd_create, "pymemrun-dump", MFD_CLOEXEC));
  if (fd < 0) return errno;
  Started started = {order, MapStatus(fd), fd};
  int error = started.status == nullptr ? errno : 0;
  if (error == 0) {
    started.order.begin.monotonic_ns = forked_ns_ = MonotonicNs();
    error = ChildProcess::Fork(order.orphans, StartChild, &started);
    if (error == 0) WaitUntilExpendable(started.status);
  }
  syscall(SYS_close, fd);
  pause_us_ = (MonotonicNs() - since_ns) / 1000;
  if (error != 0) {
    if (started.status != nullptr) {
      syscall(SYS_munmap, started.status, kObjectStatusBytes);
    }
    return error;
  }
  status_ = started.status;
  status_->pause_us_plus_1.store(pause_us_ + 1, std::memory_order_release);
  syscall(SYS_futex, &status_->pause_us_plus_1, FUTEX_WAKE, 1, nullptr, nullptr,
          0);
  last_beat_ = 0;
  last_beat_ns_ = MonotonicNs();
  return 0;
#endif
}

// The writer may end without setting `done`. Then its pid is gone, or its
// heartbeat stops.
ObjectDump::State ObjectDump::Wait(int timeout_ms) {
  // Without a heartbeat for this long the dump counts as gone.
  constexpr uint64_t kGoneNs = 20000000000;
  if (status_ == nullptr) return State::kGone;
  if (status_->done.load(std::memory_order_acquire) != 0) return State::kDone;
  if (timeout_ms > 0) {
    const timespec timeout = {timeout_ms / 1000, timeout_ms % 1000 * 1000000l};
    syscall(SYS_futex, &status_->done, FUTEX_WAIT, 0, &timeout, nullptr, 0);
  }
  if (status_->done.load(std::memory_order_acquire) != 0) return State::kDone;
  ChildProcess::ReapOwnChild();
  const uint64_t now_ns = MonotonicNs();
  const uint32_t beat = status_->heartbeat.load(std::memory_order_relaxed);
  if (beat != last_beat_) {
    last_beat_ = beat;
    last_beat_ns_ = now_ns;
  }
  const pid_t writer = static_cast<pid_t>(status_->writer.load());
  const bool ended = writer > 0 && kill(writer, 0) != 0 && errno == ESRCH &&
                     status_->done.load(std::memory_order_acquire) == 0;
  return ended || now_ns - last_beat_ns_ > kGoneNs ? State::kGone
                                                   : State::kRunning;
}

// Copies plain numbers only: the other side is not trusted.
ObjectDump::Result ObjectDump::Take() {
  Result result = {};
  if (status_->done.load(std::memory_order_acquire) != 0) {
    result = {status_->start_errno, status_->outcome,     status_->signal,
              status_->whole != 0,  status_->write_errno, status_->objects,
              status_->references,  status_->duration_us, status_->file_bytes};
  }
  syscall(SYS_munmap, status_, kObjectStatusBytes);
  status_ = nullptr;
  return result;
}

void ObjectDump::Forget() {
  if (status_ == nullptr) return;
  syscall(SYS_munmap, status_, kObjectStatusBytes);
  status_ = nullptr;
}

}  // namespace pymemrun
