// The limit on the size of files, while a run is put together.
#ifndef PYMEMRUN_LAUNCHER_SESSION_FILE_SIZE_LIMIT_H_
#define PYMEMRUN_LAUNCHER_SESSION_FILE_SIZE_LIMIT_H_

#include <signal.h>
#include <sys/resource.h>

namespace pymemrun {

// While it lives, no limit on the size of files ends the program: the shared
// region counts as one. What the hard limit forbids fails as any other call.
class FileSizeLimitAside {
 public:
  FileSizeLimitAside() : handler_(signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &limit_);
    const struct rlimit raised = {limit_.rlim_max, limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &raised);
  }
  ~FileSizeLimitAside() {
    setrlimit(RLIMIT_FSIZE, &limit_);
    signal(SIGXFSZ, handler_);
  }
  FileSizeLimitAside(const FileSizeLimitAside&) = delete;
  FileSizeLimitAside& operator=(const FileSizeLimitAside&) = delete;

 private:
  void (*const handler_)(int);
  struct rlimit limit_ = {RLIM_INFINITY, RLIM_INFINITY};
};

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_SESSION_FILE_SIZE_LIMIT_H_
