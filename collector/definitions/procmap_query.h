// ioctl PROCMAP_QUERY of /proc/PID/maps, as Linux has it since 6.11; headers of
// older systems do not.
#ifndef PYMEMRUN_COLLECTOR_DEFINITIONS_PROCMAP_QUERY_H_
#define PYMEMRUN_COLLECTOR_DEFINITIONS_PROCMAP_QUERY_H_

#include <linux/ioctl.h>

#include <cstdint>

namespace pymemrun {

struct ProcmapQuery {
  uint64_t size = sizeof(ProcmapQuery);
  uint64_t flags;
  uint64_t address;
  uint64_t begin;  // set by the kernel from here on: addresses
  uint64_t end;
  uint64_t permissions;
  uint64_t page_size;
  uint64_t offset;
  uint64_t inode;
  uint32_t device_major;
  uint32_t device_minor;
  uint32_t name_size;      // in: of the buffer; out: with the final 0; 0: none
  uint32_t build_id_size;  // 0: not wanted
  uint64_t name;           // address of the buffer
  uint64_t build_id;
};
static_assert(sizeof(ProcmapQuery) == 104);

inline constexpr unsigned long kProcmapQuery =
    _IOC(_IOC_READ | _IOC_WRITE, 'f', 17, sizeof(ProcmapQuery));

// In flags: where nothing is mapped, the answer is the next mapping above.
// ENOENT means that no mapping was found.
inline constexpr uint64_t kProcmapOrNext = 1u << 4;
// In permissions.
inline constexpr uint64_t kProcmapReadable = 1u << 0;
inline constexpr uint64_t kProcmapWritable = 1u << 1;
inline constexpr uint64_t kProcmapExecutable = 1u << 2;
inline constexpr uint64_t kProcmapShared = 1u << 3;

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_DEFINITIONS_PROCMAP_QUERY_H_
