// Source files of the traced program: how they are read, and the hash of a line
// by which the run file knows it again. FORMAT.md says what it is.
#ifndef PYMEMRUN_FORMAT_SOURCE_SOURCE_CODE_H_
#define PYMEMRUN_FORMAT_SOURCE_SOURCE_CODE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace pymemrun {

inline constexpr size_t kMostSourceBytes = size_t{8} << 20;

struct SourceCode {
  uint64_t mtime_ns = 0;  // of CLOCK_REALTIME
  std::string text;

  // Without their ends; line 1 comes first. Valid as long as this.
  std::vector<absl::string_view> Lines() const;
};

// Path of the source file `file`, as in CodeDef; relative names are in
// `folder`. Empty if it is not a file, such as "<string>".
std::string SourcePath(absl::string_view file, absl::string_view folder);

// A regular file of at most kMostSourceBytes; nothing for all else. Names come
// from strangers: no pipe and no device is opened.
std::optional<SourceCode> ReadSourceCode(const std::string& path);

// Hash of the line without spaces around it, so that indentation does not
// count.
uint32_t SourceLineHash(absl::string_view line);

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_SOURCE_SOURCE_CODE_H_
