// Hides the gauge's descriptor from the program. Calls that name it fail with
// EBADF. Calls that close a whole range spare it. A call that wants the number
// for itself gets it. (No Python.h here: it gives fstat and fstat64 one name.)
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tracer/base/interposed_state.h"
#include "tracer/base/statm.h"

namespace pymemrun {
namespace {

// Not in children, where all calls only forward.
bool IsOurs(int fd) {
  return fd >= 0 && fd == Statm::descriptor() && TracedPage() != nullptr;
}

int NoSuchDescriptor() {
  errno = EBADF;
  return -1;
}

int CloseRange(unsigned first, unsigned last, int flags) {
  return PYMEMRUN_NEXT(close_range)(first, last, flags);
}

}  // namespace
}  // namespace pymemrun

using namespace pymemrun;  // the definitions below are libc's names

PYMEMRUN_INTERPOSE int close(int fd) {
  if (IsOurs(fd)) return NoSuchDescriptor();
  return PYMEMRUN_NEXT(close)(fd);
}

PYMEMRUN_INTERPOSE int dup2(int from, int to) noexcept {
  if (IsOurs(from)) return NoSuchDescriptor();
  if (IsOurs(to)) Statm::MoveAway();
  return PYMEMRUN_NEXT(dup2)(from, to);
}

PYMEMRUN_INTERPOSE int dup3(int from, int to, int flags) noexcept {
  if (IsOurs(from)) return NoSuchDescriptor();
  if (IsOurs(to)) Statm::MoveAway();
  return PYMEMRUN_NEXT(dup3)(from, to, flags);
}

PYMEMRUN_INTERPOSE int close_range(unsigned first, unsigned last,
                                   int flags) noexcept {
  const int fd = Statm::descriptor();
  const unsigned ours = static_cast<unsigned>(fd);
  if (!IsOurs(fd) || ours < first || ours > last) {
    return CloseRange(first, last, flags);
  }
  if (first == last) return 0;  // it has closed all there were
  int result = 0;
  if (ours > first) result = CloseRange(first, ours - 1, flags);
  if (result == 0 && ours < last) result = CloseRange(ours + 1, last, flags);
  return result;
}

PYMEMRUN_INTERPOSE void closefrom(int first) noexcept {
  const int fd = Statm::descriptor();
  if (!IsOurs(fd) || fd < first) return PYMEMRUN_NEXT(closefrom)(first);
  const unsigned begin = first > 0 ? static_cast<unsigned>(first) : 0;
  const unsigned ours = static_cast<unsigned>(fd);
  if (ours > begin && CloseRange(begin, ours - 1, 0) != 0) {
    Statm::DescriptorClosed();  // an old kernel: opened anew when it is needed
    return PYMEMRUN_NEXT(closefrom)(first);
  }
  PYMEMRUN_NEXT(closefrom)(fd + 1);
}

PYMEMRUN_INTERPOSE int fstat(int fd, struct stat* status) noexcept {
  if (IsOurs(fd)) return NoSuchDescriptor();
  return PYMEMRUN_NEXT(fstat)(fd, status);
}

PYMEMRUN_INTERPOSE int fstat64(int fd, struct stat64* status) noexcept {
  if (IsOurs(fd)) return NoSuchDescriptor();
  return PYMEMRUN_NEXT(fstat64)(fd, status);
}
