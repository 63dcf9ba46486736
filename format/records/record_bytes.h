// What the bytes of a record tell before they are parsed. For RecordDecoder.
#ifndef PYMEMRUN_FORMAT_RECORDS_RECORD_BYTES_H_
#define PYMEMRUN_FORMAT_RECORDS_RECORD_BYTES_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "format/trace.pb.h"

namespace pymemrun {

// The length-delimited payload of `record` when its one field is `events`.
std::optional<absl::string_view> OnlyEvents(absl::string_view record);
// Whether its first field is of a kind that this reader knows.
bool BeginsWithKnownKind(absl::string_view record);

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_RECORDS_RECORD_BYTES_H_
