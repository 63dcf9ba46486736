// write, by which CPython tells the program of a signal through a descriptor:
// not of ours. For all else it only forwards.
#include <unistd.h>

#include "tracer/base/interposed_state.h"
#include "tracer/requests/request_signal.h"

using namespace pymemrun;  // the definition below is libc's name

PYMEMRUN_INTERPOSE ssize_t write(int fd, const void* bytes, size_t size) {
  if (RequestSignal::IsMuted()) return static_cast<ssize_t>(size);
  return PYMEMRUN_NEXT(write)(fd, bytes, size);
}
