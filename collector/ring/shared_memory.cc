#include "collector/ring/shared_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "collector/ring/ring_reader.h"

// Since Linux 5.1; Debian 12's <fcntl.h> has it only with some macros.
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif
// Since Linux 5.14.
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

namespace pymemrun {
namespace {

// What is shorter would end us by SIGBUS at the first look beyond its end.
bool HasBytes(int fd, size_t bytes) {
  struct stat status;
  return fstat(fd, &status) == 0 &&
         static_cast<uint64_t>(status.st_size) >= bytes;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SharedMemory>> SharedMemory::Map(int region_fd,
                                                                int reply_fd) {
  if (!HasBytes(region_fd, kControlBytes) || !HasBytes(reply_fd, kReplyBytes)) {
    return absl::FailedPreconditionError("the shared memory is too short");
  }
  void* region =
      mmap(nullptr, kRegionBytes, PROT_READ, MAP_SHARED, region_fd, 0);
  void* reply = mmap(nullptr, kReplyBytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                     reply_fd, 0);
  const int why = errno;
  if (region != MAP_FAILED && reply != MAP_FAILED) {
    // For whoever still has a descriptor of it, ours included. Kernels before
    // 5.1 lack this seal: there the launcher has closed its descriptor.
    fcntl(reply_fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL);
    std::unique_ptr<SharedMemory> memory(
        new SharedMemory(static_cast<const ControlPage*>(region),
                         static_cast<ReplyPage*>(reply)));
    const ControlPage& page = *memory->page_;
    if (page.magic == kRingMagic && page.version == kWireVersion &&
        HasBytes(region_fd, RegionBytes(page))) {
      return memory;
    }
    return absl::FailedPreconditionError(
        "the shared region is not one of this version");
  }
  if (region != MAP_FAILED) munmap(region, kRegionBytes);
  if (reply != MAP_FAILED) munmap(reply, kReplyBytes);
  return absl::InternalError(
      absl::StrCat("cannot map the shared memory: ", strerror(why)));
}

SharedMemory::~SharedMemory() {
  if (shows_life_) pthread_mutex_unlock(&reply_->collector_alive);
  munmap(const_cast<ControlPage*>(page_), kRegionBytes);
  munmap(reply_, kReplyBytes);
}

const EventSlot* SharedMemory::slots() const {
  return reinterpret_cast<const EventSlot*>(
      reinterpret_cast<const char*>(page_) + kControlBytes);
}

void SharedMemory::MakePages() {
  madvise(const_cast<ControlPage*>(page_), RegionBytes(*page_),
          MADV_POPULATE_READ);
}

void SharedMemory::ShowLife() {
  MakeSignOfLife(&reply_->collector_alive);
  pthread_mutex_lock(&reply_->collector_alive);
  shows_life_ = true;
  reply_->collector_pid.store(static_cast<uint32_t>(getpid()),
                              std::memory_order_release);
  WakeSharedFutex(&reply_->collector_pid);
}

}  // namespace pymemrun
