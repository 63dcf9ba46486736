// How much memory a container has left: a copy of a process that does not fit
// in makes the kernel end one of the container's processes.
#ifndef PYMEMRUN_TRACER_BASE_CONTAINER_MEMORY_H_
#define PYMEMRUN_TRACER_BASE_CONTAINER_MEMORY_H_

#include <cstddef>
#include <cstdint>

namespace pymemrun {

// Allocates nothing, and takes nothing of the program's descriptors for longer
// than a call.
class ContainerMemory {
 public:
  static constexpr uint64_t kNoLimit = ~uint64_t{0};

  // Bytes left below the lowest limit of the calling process's control groups.
  // Cached files that no process has mapped count as free. `groups` is as
  // /proc/self/cgroup, `root` where the groups are mounted.
  static uint64_t Left(const char* groups = "/proc/self/cgroup",
                       const char* root = "/sys/fs/cgroup");
  // Bytes that a copy of the calling process soon needs: page tables, pages
  // that it writes itself, and a part of the pages that the program may write
  // in that time.
  static uint64_t NeededForCopy();

  // Whether a copy may be made; if not, `why` says so.
  static bool HasRoomForCopy(char* why, size_t size);
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_BASE_CONTAINER_MEMORY_H_
