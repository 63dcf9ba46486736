// Mappings of files that the program makes and gives back. The collector may
// hear of their faults when they have gone: it is told what they are, and which
// of their pages were there. The kernel maps many around a fault.
#ifndef PYMEMRUN_TRACER_PAGES_FILE_WATCH_H_
#define PYMEMRUN_TRACER_PAGES_FILE_WATCH_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace pymemrun {

// Any thread. Allocates nothing and takes no lock; makes some system calls for
// each mapping of a file, and keeps errno.
class FileWatch {
 public:
  // `fd` is mapped there now.
  static void Mapped(const void* address, size_t bytes, int fd);
  // What was mapped at `from` is at `to` now, and `bytes` long. `stays`: and at
  // `from`, too.
  static void Moved(const void* from, const void* to, size_t bytes,
                    bool stays) {
    if (count_.load(std::memory_order_relaxed) != 0) {
      MovedSlow(reinterpret_cast<uintptr_t>(from),
                reinterpret_cast<uintptr_t>(to), bytes, stays);
    }
  }
  // The pages of [address, address + bytes) are about to leave, by a call that
  // began at `time_ns`; 0: that begins now. `stays`: the mapping does not.
  static void Leaving(const void* address, size_t bytes, uint64_t time_ns,
                      bool stays) {
    if (count_.load(std::memory_order_relaxed) != 0) {
      LeavingSlow(reinterpret_cast<uintptr_t>(address), bytes, time_ns, stays);
    }
  }

 private:
  struct Slot {
    std::atomic<uintptr_t> begin;  // 0: free
    std::atomic<uintptr_t> end;
  };
  static constexpr size_t kSlots = 64;

  static void Watch(uintptr_t begin, uintptr_t end);
  static void MovedSlow(uintptr_t from, uintptr_t to, size_t bytes, bool stays);
  static void LeavingSlow(uintptr_t begin, size_t bytes, uint64_t time_ns,
                          bool stays);

  // Those that live; further ones are not watched.
  static Slot slots_[kSlots];
  static std::atomic<uint32_t> count_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_PAGES_FILE_WATCH_H_
