// write(), by which CPython reports a signal to the program through a
// descriptor; signals of the tracer are left out. Otherwise it only forwards.
#include <unistd.h>

#include "tracer/base/interposed_state.h"
#include "tracer/requests/request_signal.h"

using namespace pymemrun;  // the definition below is libc's name

PYMEMRUN_INTERPOSE ssize_t write(int fd, const void* bytes, size_t size) {
  if (RequestSignal::IsMuted()) return static_cast<ssize_t>(size);
  return PYMEMRUN_NEXT(write)(fd, bytes, size);
}
