// Calls by which the kernel fills the program's memory. Where only the
// program's own faults are seen (PageCounters::user_only), the pages that such
// a call brings show as a range that came.
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include "tracer/base/interposed_state.h"
#include "tracer/pages/range_events.h"

namespace pymemrun {
namespace {

// Smaller calls bring a page at most, which later faults show.
constexpr size_t kWorthwhile = 4096;

// Calls `fill`, which fills `buffer` and returns a count of units of `unit`
// bytes.
template <typename Fill>
auto Filled(void* buffer, size_t wanted, size_t unit, Fill fill) {
  if (__builtin_expect(!PageEvents::wants_input() || wanted < kWorthwhile, 1)) {
    return fill();
  }
  const auto result = fill();
  if (result > 0) {
    // Created after the call, which may wait for hours. Only releases need the
    // time before the call.
    RangeEvents().Add(RangeAction::kPopulated, buffer,
                      static_cast<size_t>(result) * unit);
  }
  return result;
}

}  // namespace
}  // namespace pymemrun

using namespace pymemrun;  // the definitions below are libc's names

PYMEMRUN_INTERPOSE ssize_t read(int fd, void* buffer, size_t size) {
  return Filled(buffer, size, 1,
                [=] { return PYMEMRUN_NEXT(read)(fd, buffer, size); });
}

PYMEMRUN_INTERPOSE ssize_t pread(int fd, void* buffer, size_t size, off_t at) {
  return Filled(buffer, size, 1,
                [=] { return PYMEMRUN_NEXT(pread)(fd, buffer, size, at); });
}

PYMEMRUN_INTERPOSE ssize_t pread64(int fd, void* buffer, size_t size,
                                   off64_t at) {
  return Filled(buffer, size, 1,
                [=] { return PYMEMRUN_NEXT(pread64)(fd, buffer, size, at); });
}

PYMEMRUN_INTERPOSE ssize_t recv(int fd, void* buffer, size_t size, int flags) {
  return Filled(buffer, size, 1,
                [=] { return PYMEMRUN_NEXT(recv)(fd, buffer, size, flags); });
}

PYMEMRUN_INTERPOSE ssize_t recvfrom(int fd, void* buffer, size_t size,
                                    int flags, sockaddr* address,
                                    socklen_t* length) {
  return Filled(buffer, size, 1, [=] {
    return PYMEMRUN_NEXT(recvfrom)(fd, buffer, size, flags, address, length);
  });
}

PYMEMRUN_INTERPOSE size_t fread(void* buffer, size_t unit, size_t count,
                                FILE* file) {
  return Filled(buffer, unit * count, unit, [=] {
    return PYMEMRUN_NEXT(fread)(buffer, unit, count, file);
  });
}
