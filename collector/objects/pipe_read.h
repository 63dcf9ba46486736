// Reads from a pipe for a limited time.
#ifndef PYMEMRUN_COLLECTOR_OBJECTS_PIPE_READ_H_
#define PYMEMRUN_COLLECTOR_OBJECTS_PIPE_READ_H_

#include <sys/types.h>

#include <cstddef>

namespace pymemrun {

// As read(), and waits for at most `timeout_ms`: -1 and EAGAIN where nothing
// came. Also where a filter of system calls refuses poll(): the pipe then stays
// non-blocking.
ssize_t ReadPipe(int pipe, char* buffer, size_t size, int timeout_ms);

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_OBJECTS_PIPE_READ_H_
