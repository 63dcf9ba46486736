// How the bytes of an index lie: arrays, and behind them a table of them.
// FORMAT.md tells it, too.
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

// The first and the last bytes of an index. The last one is its version.
inline constexpr absl::string_view kIndexMagic = "pymemox2";

// Where an array lies. Those of a graph have the numbers of
// GraphArrays::ForEach(), those of findings of StoredFindings::ForEach().
struct IndexSection {
  uint32_t number, item_bytes;
  uint64_t items;
  uint64_t offset;  // in the file, a multiple of 8
  uint64_t checksum;
};
static_assert(sizeof(IndexSection) == 32);

// An ObjectsIndex message (objects_index.proto), by bytes.
inline constexpr uint32_t kFactsSection = 0;

// What stands behind the sections.
struct IndexTail {
  uint64_t dump_bytes;
  uint32_t dump_crc, sections;
  uint64_t checksum;  // of the table of sections, then of what is above
  char magic[8];
};
static_assert(sizeof(IndexTail) == 32);

// Any change of up to 8 bytes in a row changes it. Reads as quickly as memory
// does. No protection against who wishes for the same sum.
uint64_t IndexChecksum(absl::string_view bytes);

// The table and what is behind it, as they lie in the file.
std::string EncodeTable(absl::Span<const IndexSection> sections,
                        const DumpStamp& stamp);

// The table of a whole file, which begins where numbers of 64 bits may lie. All
// sections are within the file, rise, and have their checksums. Fails with
// FailedPrecondition where the index is of another dump, or of another version,
// and else with what is wrong, and where.
absl::StatusOr<absl::Span<const IndexSection>> ReadTable(
    absl::string_view file, const DumpStamp& stamp);

// An index beside an object dump: makes one, and opens one. FORMAT.md has the
// layout.

// Writes all that is known of the graph. What the analysis has computed is
// forgotten meanwhile.
absl::Status WriteIndex(const DumpStamp& stamp, ObjectAnalysis* analysis,
                        ByteSink* sink);

// An analysis whose arrays lie in the mapped index. All of it is checked here,
// in linear time. Fails with NotFound where there is no such file, with
// FailedPrecondition where it is of another dump or version, and else with what
// is wrong and where: an index that other users could have written is not read.
absl::StatusOr<std::unique_ptr<ObjectAnalysis>> OpenIndex(
    const std::string& path, const DumpStamp& stamp);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_INDEX_INDEX_LAYOUT_H_
