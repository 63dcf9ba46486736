#include "readers/run/source_lines.h"

#include <algorithm>

namespace pymemrun {

void SourceLines::Add(const SourceFile& source) {
  const absl::string_view file = names_.Keep(source.file());
  const int count = std::min(source.line_size(), source.hash_size());
  for (int i = 0; i < count && lines_.size() < most_lines_; ++i) {
    SourceLine& line = lines_[{file, source.line(i)}];
    line.hash = source.hash(i);
    if (i < source.text_size()) line.text = names_.Keep(source.text(i));
  }
}

const SourceLine* SourceLines::Find(absl::string_view file,
                                    uint32_t line) const {
  const auto found = lines_.find({file, line});
  return found == lines_.end() ? nullptr : &found->second;
}

}  // namespace pymemrun
