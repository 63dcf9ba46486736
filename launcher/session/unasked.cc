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

// A debugger, or strace.
bool HasDebugger() {
  char text[4096];
  const int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  const ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  if (fd >= 0) close(fd);
  text[size < 0 ? 0 : size] = '\0';
  const char* const tracer = strstr(text, "\nTracerPid:\t");
  return tracer != nullptr && atoi(strchr(tracer, '\t')) != 0;
}

bool HasSanitizer() {
  return dlsym(RTLD_DEFAULT, "__asan_init") != nullptr ||
         dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr;
}

bool AddressSpaceIsBelow(rlim_t mebibytes) {
  struct rlimit limit = {};
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < mebibytes << 20;
}

// Without page and heap events the tracer maps 7 MB, and an interpreter (3.11)
// 6 MB until its first line runs. The rest is for the program.
constexpr size_t kLeastBytes = size_t{24} << 20;

}  // namespace

const char* WhyNoRoom() {
  void* const probe = mmap(nullptr, kLeastBytes, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (probe == MAP_FAILED) {
    return "too little address space is allowed (ulimit -v)";
  }
  munmap(probe, kLeastBytes);
  return nullptr;
}

// Debian's 3.11 prints a line in 12.8 MB, and ours in 15 MB.
bool FitsPlainPythonOnly() { return AddressSpaceIsBelow(20); }

std::string LeaveOutUnasked(Options* options) {
  // Little more than the interpreter itself needs.
  const bool is_short = AddressSpaceIsBelow(64);
  bool pages = false, heap = false;  // left out
  if (!options->trace_given && options->trace_pages) {
    pages = is_short || HasSanitizer();
    options->trace_pages = !pages;
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
