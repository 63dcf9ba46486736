// The source text of lines that a run names, from the files as they are now.
#ifndef PYMEMRUN_READERS_ANSWER_SOURCE_TEXT_H_
#define PYMEMRUN_READERS_ANSWER_SOURCE_TEXT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace pymemrun {

// Not thread safe. Files that changed after `last_ns` (CLOCK_REALTIME) have no
// text: their lines may be others now.
class SourceText {
 public:
  // Relative names are of `folder`.
  SourceText(std::string folder, uint64_t last_ns)
      : folder_(std::move(folder)), last_ns_(last_ns) {}
  // The line without its indentation; empty where it cannot be told.
  std::string Line(absl::string_view file, uint32_t line);

 private:
  static constexpr size_t kMostBytes = 8 << 20;

  std::vector<std::string> ReadLines(const std::string& path) const;

  const std::string folder_;
  const uint64_t last_ns_;
  std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ANSWER_SOURCE_TEXT_H_
