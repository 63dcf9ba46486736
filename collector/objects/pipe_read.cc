#include "collector/objects/pipe_read.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cstdint>

#include "collector/process/monotonic_clock.h"

namespace pymemrun {

ssize_t ReadPipe(int pipe, char* buffer, size_t size, int timeout_ms) {
  pollfd ready = {.fd = pipe, .events = POLLIN, .revents = 0};
  const int count = poll(&ready, 1, timeout_ms);
  if (count > 0) return read(pipe, buffer, size);
  if (count == 0 || errno == EINTR) {
    errno = count == 0 ? EAGAIN : EINTR;
    return -1;
  }
  const uint64_t until_ns = MonotonicNs() + uint64_t(timeout_ms) * 1000000;
  if (fcntl(pipe, F_SETFL, fcntl(pipe, F_GETFL) | O_NONBLOCK) != 0) return -1;
  while (true) {
    const ssize_t got = read(pipe, buffer, size);
    if (got >= 0 || errno != EAGAIN || MonotonicNs() >= until_ns) return got;
    usleep(1000);
  }
}

}  // namespace pymemrun
