// An index beside an object dump: makes one, and opens one. FORMAT.md has the
// layout.
#ifndef PYMEMRUN_READERS_OBJECTS_INDEX_INDEX_FILE_H_
#define PYMEMRUN_READERS_OBJECTS_INDEX_INDEX_FILE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "format/stream/byte_io.h"
#include "readers/objects/findings/analysis.h"
#include "readers/objects/index/index_layout.h"

namespace pymemrun {

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

#endif  // PYMEMRUN_READERS_OBJECTS_INDEX_INDEX_FILE_H_
