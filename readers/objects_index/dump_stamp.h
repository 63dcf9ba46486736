// Which dump an index is of: its size, and a checksum of pieces of it.
#ifndef PYMEMRUN_READERS_OBJECTS_INDEX_DUMP_STAMP_H_
#define PYMEMRUN_READERS_OBJECTS_INDEX_DUMP_STAMP_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace pymemrun {

struct DumpStamp {
  uint64_t size_bytes = 0;
  uint32_t crc = 0;
  uint32_t owner = 0;  // the user whose file it is; not compared
  bool operator==(const DumpStamp& other) const {
    return size_bytes == other.size_bytes && crc == other.crc;
  }
};

// Reads 16 pieces of 4 KiB, the first and the last included; all of a file that
// is no larger. Fails for what is no plain file.
absl::StatusOr<DumpStamp> StampOf(const std::string& path);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_INDEX_DUMP_STAMP_H_
