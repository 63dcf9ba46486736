#include "launcher/session/unasked.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace pymemrun {
namespace {

// A debugger, or strace. It is the process that traces this one by ptrace
// (proc_pid_status(5)).
bool HasDebugger() {
  char text[4096];
  const int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  const ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  if (fd >= 0) close(fd);
  text[size < 0 ? 0 : size] = '\0';
  const char* const tracer = strstr(text, "\nTracerPid:\t");
  return tracer != nullptr && atoi(strchr(tracer, '\t')) != 0;
}

// Its library is in the process, preloaded or linked, if one of these names is
// known.
bool HasSanitizer() {
  return dlsym(RTLD_DEFAULT, "__asan_init") != nullptr ||
         dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr;
}

bool IsBelow(__rlimit_resource resource, rlim_t mebibytes) {
  struct rlimit limit = {};
  return getrlimit(resource, &limit) == 0 && limit.rlim_cur < mebibytes << 20;
}

// Without page and heap events the tracer maps 7 MB, and an interpreter (3.11)
// 6 MB until its first line runs. The rest is for the program.
constexpr size_t kLeastBytes = size_t{24} << 20;
// Part of that which is private and writable: for the interpreter and the
// tables of the tracer.
constexpr size_t kLeastDataBytes = size_t{13} << 20;

// Asks the kernel instead of adding up: it counts what is mapped already.
// Nothing is touched, so nothing becomes resident.
bool HasRoom(size_t bytes, int protection) {
  void* const probe = mmap(nullptr, bytes, protection,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (probe == MAP_FAILED) return false;
  munmap(probe, bytes);
  return true;
}

// A limit of 4 GiB or more leaves room in any case, and no probe is needed.
bool HasRoomForData() {
  return !IsBelow(RLIMIT_DATA, 4096) ||
         HasRoom(kLeastDataBytes, PROT_READ | PROT_WRITE);
}

}  // namespace

const char* WhyNoRoom() {
  if (!HasRoom(kLeastBytes, PROT_NONE)) {
    return "too little address space is allowed (ulimit -v)";
  }
  return HasRoomForData() ? nullptr
                          : "too little memory is allowed (ulimit -d)";
}

// Debian's 3.11 prints a line in 12.8 MB, 5 MB of them data; ours in 15 MB.
bool FitsPlainPythonOnly() {
  return IsBelow(RLIMIT_AS, 20) || IsBelow(RLIMIT_DATA, 10);
}

std::string LeaveOutUnasked(Options* options) {
  // Little more than the interpreter itself needs.
  const bool is_short = IsBelow(RLIMIT_AS, 64);
  bool pages = false, heap = false;  // left out
  if (!options->trace_given && options->traces.has(Trace::kPages)) {
    pages = is_short || HasSanitizer();
    options->traces.Set(Trace::kPages, !pages);
    if (options->page_source == PageSource::kAuto && HasDebugger()) {
      options->page_source = PageSource::kScan;
    }
  }
  if (!options->heap_given && is_short) {
    heap = options->heap.mode != HeapMode::kOff;
    options->heap.mode = HeapMode::kOff;
    options->heap.native = false;
  }
  if (!pages && !heap) return {};
  return std::string(pages && heap ? "pages and allocations"
                     : pages       ? "pages"
                                   : "allocations") +
         (is_short ? ": ulimit -v leaves less than 64 MiB"
                   : ": a sanitizer is preloaded");
}

}  // namespace pymemrun
