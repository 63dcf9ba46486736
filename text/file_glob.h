// Matches files against shell patterns.
#ifndef PYMEMRUN_TEXT_FILE_GLOB_H_
#define PYMEMRUN_TEXT_FILE_GLOB_H_

#include <fnmatch.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace pymemrun {

// Whether the file, or the end of its path, matches the pattern.
inline bool FileMatches(const std::string& pattern, const std::string& file) {
  return fnmatch(pattern.c_str(), file.c_str(), 0) == 0 ||
         fnmatch(absl::StrCat("*/", pattern).c_str(), file.c_str(), 0) == 0;
}

// Whether it matches any of the patterns.
inline bool FileMatchesAny(const std::vector<std::string>& patterns,
                           const std::string& file) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&file](const std::string& pattern) {
                       return FileMatches(pattern, file);
                     });
}

}  // namespace pymemrun

#endif  // PYMEMRUN_TEXT_FILE_GLOB_H_
