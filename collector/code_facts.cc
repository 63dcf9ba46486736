#include "collector/code_facts.h"

#include <algorithm>

namespace pymemrun {

void CodeFacts::Add(uint32_t code, const CodePayload& head,
                    absl::string_view file, absl::string_view name,
                    absl::string_view line_table) {
  if (facts_.size() >= 2 * kMaxCodes) return;
  Facts facts;
  facts.first_line = head.first_line;
  facts.line_table_kind = head.line_table_kind;
  facts.start_position = head.start_position;
  if (text_bytes_ + name.size() + line_table.size() <= kMaxTextBytes) {
    facts.file = FileIndex(file);
    facts.table_bytes = static_cast<uint32_t>(line_table.size());
    facts.name_bytes = static_cast<uint32_t>(name.size());
    const size_t size = line_table.size() + name.size();
    char* text = google::protobuf::Arena::CreateArray<char>(&text_, size);
    // Not memcpy: an empty view's data() may be null, which it forbids.
    std::copy(name.begin(), name.end(),
              std::copy(line_table.begin(), line_table.end(), text));
    facts.text = text;
    text_bytes_ += size;
  }
  facts_[code] = facts;
}

void CodeFacts::Clear() {
  facts_.clear();
  text_.Reset();
  text_bytes_ = 0;
  large_.clear();
  files_.resize(1);
  file_index_.clear();
}

uint32_t CodeFacts::FileIndex(absl::string_view file) {
  const auto [known, fresh] =
      file_index_.try_emplace(file, static_cast<uint32_t>(files_.size()));
  if (fresh) {
    files_.emplace_back(file);
    text_bytes_ += 2 * file.size();
  }
  return known->second;
}

bool CodeFacts::IsStart(uint32_t code, uint32_t position) const {
  const auto found = facts_.find(code);
  return found != facts_.end() && found->second.start_position == position;
}

uint32_t CodeFacts::LineOf(uint32_t code, uint32_t position) {
  const auto found = facts_.find(code);
  if (found == facts_.end()) return 0;
  return LinesOf(code, found->second).LineAt(position);
}

const LineTable& CodeFacts::LinesOf(uint32_t code, const Facts& facts) {
  const auto decode = [&facts] {
    return LineTable::Decode(static_cast<LineTableKind>(facts.line_table_kind),
                             facts.first_line, {facts.text, facts.table_bytes});
  };
  if (facts.table_bytes > kSmallTableBytes) {
    const auto [known, fresh] = large_.try_emplace(code);
    if (fresh) known->second = decode();
    return known->second;
  }
  Decoded& decoded = small_[code % kSmallTables];
  if (decoded.code != code) {
    decoded.code = code;
    decoded.lines = decode();
  }
  return decoded.lines;
}

absl::string_view CodeFacts::FileOf(uint32_t code) const {
  const auto found = facts_.find(code);
  if (found == facts_.end()) return {};
  return files_[found->second.file];
}

absl::string_view CodeFacts::NameOf(uint32_t code) const {
  const auto found = facts_.find(code);
  if (found == facts_.end()) return {};
  const Facts& facts = found->second;
  return {facts.text + facts.table_bytes, facts.name_bytes};
}

}  // namespace pymemrun
