#include "readers/answer/memory/source_text.h"

#include <vector>

#include "absl/strings/ascii.h"

namespace pymemrun {

std::string SourceText::Line(absl::string_view file, uint32_t line) {
  std::optional<std::string> text = Find(file, line);
  if (!text.has_value() && first_changed_.empty()) {
    first_changed_ = std::string(file);
  }
  return text.value_or("");
}

std::optional<std::string> SourceText::Find(absl::string_view file,
                                            uint32_t line) {
  const std::string path = SourcePath(file, folder_);
  if (line == 0 || path.empty()) return "";  // no file holds it
  const SourceLine* const known = index_.source_lines().Find(file, line);
  if (known != nullptr && !known->text.empty()) return std::string(known->text);
  auto [found, is_new] = files_.try_emplace(path);
  if (is_new) found->second = ReadSourceCode(path);
  const std::optional<SourceCode>& source = found->second;
  if (!source.has_value()) return std::nullopt;
  const std::vector<absl::string_view> lines = source->Lines();
  if (line > lines.size()) return std::nullopt;
  const absl::string_view text = lines[line - 1];
  const bool is_same = known != nullptr ? known->hash == SourceLineHash(text)
                                        : source->mtime_ns <= last_ns_;
  if (!is_same) return std::nullopt;
  return std::string(absl::StripAsciiWhitespace(text));
}

}  // namespace pymemrun
