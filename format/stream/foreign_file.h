// What a file is that is no run file, as people call it.
#ifndef PYMEMRUN_FORMAT_STREAM_FOREIGN_FILE_H_
#define PYMEMRUN_FORMAT_STREAM_FOREIGN_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace pymemrun {

// "a text file", "a gzip file", "an empty file", by the first bytes of it; of
// an unknown kind "a file that begins with 00 01 02 03".
std::string FileKind(absl::string_view begin);

// The error of reading it.
absl::Status NotARunFile(absl::string_view begin);

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_STREAM_FOREIGN_FILE_H_
