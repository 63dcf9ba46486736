#include "readers/run/source_lines.h"

#include <algorithm>

namespace pymemrun {

// A file may occur in several records: the last one counts for each line.
void SourceLines::Add(const SourceFile& source) {
  const absl::string_view file = names_.Keep(source.file());
  const int count = std::min(source.line_size(), source.hash_size());
  for (int i = 0; i < count && lines_.size() < most_lines_; ++i) {
    SourceLine& line = lines_[{file, source.line(i)}];
    line.hash = source.hash(i);
    if (i < source.text_size()) line.text = names_.Keep(source.text(i));
  }
  if (count > 0 && stamps_.size() < most_lines_) {
    stamps_[file] = {source.size_bytes(), source.mtime_ns()};
  }
}

std::pair<uint64_t, uint64_t> SourceLines::Stamp(absl::string_view file) const {
  const auto found = stamps_.find(file);
  return found == stamps_.end() ? std::pair<uint64_t, uint64_t>()
                                : found->second;
}

const SourceLine* SourceLines::Find(absl::string_view file,
                                    uint32_t line) const {
  const auto found = lines_.find({file, line});
  return found == lines_.end() ? nullptr : &found->second;
}

}  // namespace pymemrun
