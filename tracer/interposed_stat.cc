// The gauge's descriptor is none of the program's: one that goes through all
// numbers and asks which are open does not meet it. (No Python.h here: it gives
// the two functions one name.)
#include <errno.h>
#include <sys/stat.h>

#include "tracer/interposed_state.h"
#include "tracer/statm.h"

namespace pymemrun {
namespace {

using FstatFunction = int(int, struct stat*);
using Fstat64Function = int(int, struct stat64*);
std::atomic<FstatFunction*> g_fstat;
std::atomic<Fstat64Function*> g_fstat64;

bool IsOurs(int fd) {
  return fd >= 0 && fd == Statm::descriptor() && TracedPage() != nullptr;
}

}  // namespace
}  // namespace pymemrun

using namespace pymemrun;  // the definitions below are libc's names

PYMEMRUN_INTERPOSE int fstat(int fd, struct stat* status) noexcept {
  if (!IsOurs(fd)) return Next(g_fstat, "fstat")(fd, status);
  errno = EBADF;
  return -1;
}

PYMEMRUN_INTERPOSE int fstat64(int fd, struct stat64* status) noexcept {
  if (!IsOurs(fd)) return Next(g_fstat64, "fstat64")(fd, status);
  errno = EBADF;
  return -1;
}
