// Reading memory of one's own that may not be there.
#ifndef PYMEMRUN_TRACER_BASE_SAFE_READ_H_
#define PYMEMRUN_TRACER_BASE_SAFE_READ_H_

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace pymemrun {

// False, errno set (EFAULT: it is not there), where the bytes could not be read
// whole. Takes a third of a microsecond. Async-signal-safe.
inline bool ReadSafely(const void* from, void* to, size_t bytes) {
  const iovec local = {to, bytes};
  const iovec remote = {const_cast<void*>(from), bytes};
  return syscall(SYS_process_vm_readv, getpid(), &local, 1, &remote, 1, 0) ==
         static_cast<long>(bytes);
}

// Remembers which pages could be read, so that the kernel is not asked for each
// of many neighbouring objects. Only for a short time, because pages may be
// unmapped. Async-signal-safe; not thread-safe.
class ReadablePages {
 public:
  bool Has(const void* from, size_t bytes) {
    const auto begin = reinterpret_cast<uintptr_t>(from);
    if (begin > UINTPTR_MAX - bytes) return false;
    for (uintptr_t page = begin / kBytes; page <= (begin + bytes - 1) / kBytes;
         ++page) {
      uintptr_t& known = known_[page % kPages];
      char byte;
      if (known == page + 1) continue;
      if (!ReadSafely(reinterpret_cast<const void*>(page * kBytes), &byte, 1)) {
        return false;
      }
      known = page + 1;
    }
    return true;
  }

 private:
  // No page is smaller.
  static constexpr uintptr_t kBytes = 4096;
  static constexpr size_t kPages = 64;

  uintptr_t known_[kPages] = {};  // page numbers above 0, by their last bits
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_BASE_SAFE_READ_H_
