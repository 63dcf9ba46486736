// The layout of an index: arrays, followed by a table of them. FORMAT.md
// documents it.
#ifndef PYMEMRUN_READERS_OBJECTS_INDEX_INDEX_LAYOUT_H_
#define PYMEMRUN_READERS_OBJECTS_INDEX_INDEX_LAYOUT_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "format/stream/byte_io.h"
#include "readers/objects/findings/analysis.h"

namespace pymemrun {

// Identifies a dump without reading all of it.
struct DumpStamp {
  uint64_t size_bytes = 0;
  uint32_t crc = 0;
  uint32_t owner = 0;  // the user who owns the file; not compared
  bool operator==(const DumpStamp& other) const {
    return size_bytes == other.size_bytes && crc == other.crc;
  }
};

// Reads 16 pieces of 4 KiB, including the first and the last; all of a file up
// to that size. Fails if it is not a plain file.
absl::StatusOr<DumpStamp> StampOf(const std::string& path);

// The first and the last bytes of an index. The last character is its version.
inline constexpr absl::string_view kIndexMagic = "pymemox2";

// The position of an array. Numbers are those of GraphArrays::ForEach() and
// StoredFindings::ForEach().
struct IndexSection {
  uint32_t number, item_bytes;
  uint64_t items;
  uint64_t offset;  // from the file's start; a multiple of 8
  uint64_t checksum;
};
static_assert(sizeof(IndexSection) == 32);

// The section with an ObjectsIndex message (objects_index.proto), in bytes.
inline constexpr uint32_t kFactsSection = 0;

// What follows the table of sections.
struct IndexTail {
  uint64_t dump_bytes;
  uint32_t dump_crc, sections;
  uint64_t checksum;  // of the table of sections, and the fields above
  char magic[8];
};
static_assert(sizeof(IndexTail) == 32);

// Detects any change of up to 8 consecutive bytes. Runs at the speed of memory.
// Does not protect against deliberate collisions.
uint64_t IndexChecksum(absl::string_view bytes);

// The table and the tail, as they are in the file.
std::string EncodeTable(absl::Span<const IndexSection> sections,
                        const DumpStamp& stamp);

// The table of a whole file, which must be aligned to 8 bytes. Checks that all
// sections are within the file, in ascending order, and have their checksums.
// Fails with FailedPrecondition if the index is of another dump or version,
// otherwise with what is wrong, and where.
absl::StatusOr<absl::Span<const IndexSection>> ReadTable(
    absl::string_view file, const DumpStamp& stamp);

// Writes everything that is known of the graph. Drops the results that the
// analysis has computed. FORMAT.md has the layout.
absl::Status WriteIndex(const DumpStamp& stamp, ObjectAnalysis* analysis,
                        ByteSink* sink);

// Opens an index by mapping it, and checks all of it, in linear time. Fails
// with NotFound if there is no such file, with FailedPrecondition if it is of
// another dump or version, and otherwise with what is wrong and where. An index
// that other users could have written is rejected.
absl::StatusOr<std::unique_ptr<ObjectAnalysis>> OpenIndex(
    const std::string& path, const DumpStamp& stamp);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_INDEX_INDEX_LAYOUT_H_
