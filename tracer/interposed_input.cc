// Calls by which the kernel fills the program's memory. Where only the
// program's own faults are seen (PageCounters::user_only), the pages that such
// a call brings show as a range that came.
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include "tracer/interposed_state.h"
#include "tracer/range_events.h"

namespace pymemrun {
namespace {

using ReadFunction = ssize_t(int, void*, size_t);
using PreadFunction = ssize_t(int, void*, size_t, off_t);
using RecvFunction = ssize_t(int, void*, size_t, int);
using RecvfromFunction = ssize_t(int, void*, size_t, int, sockaddr*,
                                 socklen_t*);
using FreadFunction = size_t(void*, size_t, size_t, FILE*);
std::atomic<ReadFunction*> g_read;
std::atomic<PreadFunction*> g_pread;
std::atomic<PreadFunction*> g_pread64;
std::atomic<RecvFunction*> g_recv;
std::atomic<RecvfromFunction*> g_recvfrom;
std::atomic<FreadFunction*> g_fread;

// Smaller ones bring a page at most, which what comes next shows.
constexpr size_t kWorthwhile = 4096;

// Calls `fill`, which fills `buffer` and returns what it came to, in units of
// `unit` bytes.
template <typename Fill>
auto Filled(void* buffer, size_t wanted, size_t unit, Fill fill) {
  if (__builtin_expect(!PageEvents::wants_input() || wanted < kWorthwhile, 1)) {
    return fill();
  }
  const auto result = fill();
  if (result > 0) {
    // Made after the call, which may wait for hours: only what leaves needs the
    // time before.
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
                [=] { return Next(g_read, "read")(fd, buffer, size); });
}

PYMEMRUN_INTERPOSE ssize_t pread(int fd, void* buffer, size_t size, off_t at) {
  return Filled(buffer, size, 1,
                [=] { return Next(g_pread, "pread")(fd, buffer, size, at); });
}

PYMEMRUN_INTERPOSE ssize_t pread64(int fd, void* buffer, size_t size,
                                   off64_t at) {
  return Filled(buffer, size, 1, [=] {
    return Next(g_pread64, "pread64")(fd, buffer, size, at);
  });
}

PYMEMRUN_INTERPOSE ssize_t recv(int fd, void* buffer, size_t size, int flags) {
  return Filled(buffer, size, 1,
                [=] { return Next(g_recv, "recv")(fd, buffer, size, flags); });
}

PYMEMRUN_INTERPOSE ssize_t recvfrom(int fd, void* buffer, size_t size,
                                    int flags, sockaddr* address,
                                    socklen_t* length) {
  return Filled(buffer, size, 1, [=] {
    return Next(g_recvfrom, "recvfrom")(fd, buffer, size, flags, address,
                                        length);
  });
}

PYMEMRUN_INTERPOSE size_t fread(void* buffer, size_t unit, size_t count,
                                FILE* file) {
  return Filled(buffer, unit * count, unit, [=] {
    return Next(g_fread, "fread")(buffer, unit, count, file);
  });
}
