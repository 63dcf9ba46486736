#include "collector/definitions/code_facts.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "collector/ring/payload_reader.h"

namespace pymemrun {

CodeDefinition::CodeDefinition(absl::string_view payload) {
  PayloadReader in(payload);
  head = in.Take<CodePayload>();
  file = in.TakeName();
  name = in.TakeName();
  qualname = in.TakeName();
  module = in.TakeName();
  line_table = in.TakeString();
}

void CodeDefinition::AddTo(CodeDef* def) const {
  def->set_first_line(head.first_line);
  def->mutable_file()->assign(file.data(), file.size());
  def->mutable_name()->assign(name.data(), name.size());
  def->mutable_qualname()->assign(qualname.data(), qualname.size());
  def->mutable_module()->assign(module.data(), module.size());
}

// Over the limit of texts a code object has no name, file or line table, so its
// lines are the first line.
void CodeFacts::Add(uint32_t code, const CodePayload& head,
                    absl::string_view file, absl::string_view name,
                    absl::string_view line_table) {
  if (facts_.size() >= limits_.codes) return;
  Facts facts;
  facts.first_line = head.first_line;
  facts.line_table_kind = head.line_table_kind;
  facts.start_position = head.start_position;
  if (text_bytes_ + name.size() + line_table.size() <= limits_.text_bytes) {
    facts.file = FileIndex(file);
    facts.table_bytes = static_cast<uint32_t>(line_table.size());
    facts.name_bytes = static_cast<uint32_t>(name.size());
    const size_t size = line_table.size() + name.size();
    facts.text.reset(new char[size]);
    // Not memcpy: an empty view's data() may be null, which it forbids.
    std::copy(
        name.begin(), name.end(),
        std::copy(line_table.begin(), line_table.end(), facts.text.get()));
    text_bytes_ += size;
  }
  facts_[code] = std::move(facts);
}

// The file's name stays: other code objects share it.
void CodeFacts::Remove(uint32_t code) {
  const auto found = facts_.find(code);
  if (found == facts_.end()) return;
  text_bytes_ -= found->second.table_bytes + found->second.name_bytes;
  facts_.erase(found);
  if (const auto lines = large_.find(code); lines != large_.end()) {
    large_bytes_ -= lines->second.size_bytes();
    large_.erase(lines);
  }
  Decoded& decoded = small_[code % small_.size()];
  if (decoded.code == code) decoded = Decoded();
}

void CodeFacts::Clear() {
  facts_.clear();
  text_bytes_ = 0;
  large_.clear();
  large_bytes_ = 0;
  small_ = std::vector<Decoded>(limits_.decoded_tables);
  files_.resize(1);
  file_index_.clear();
}

// Files are numbered, as thousands of functions share few names. A name counts
// twice: it is in the list and in the index. File 0 is empty.
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

// 0 for a code object that is not known.
uint32_t CodeFacts::LineOf(uint32_t code, uint32_t position) {
  const auto found = facts_.find(code);
  if (found == facts_.end()) return 0;
  return LinesOf(code, found->second).LineAt(position);
}

// Decoded tables are cached: small ones in a direct-mapped array, large ones in
// a map that is emptied when it exceeds its limit.
const LineTable& CodeFacts::LinesOf(uint32_t code, const Facts& facts) {
  const auto decode = [&facts] {
    return LineTable::Decode(static_cast<LineTableKind>(facts.line_table_kind),
                             facts.first_line,
                             {facts.text.get(), facts.table_bytes});
  };
  if (facts.table_bytes > kSmallTableBytes) {
    const auto known = large_.find(code);
    if (known != large_.end()) return known->second;
    LineTable lines = decode();
    large_bytes_ += lines.size_bytes();
    if (large_bytes_ > kMaxLargeBytes) {
      large_.clear();
      large_bytes_ = lines.size_bytes();
    }
    return large_[code] = std::move(lines);
  }
  Decoded& decoded = small_[code % small_.size()];
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
  return {facts.text.get() + facts.table_bytes, facts.name_bytes};
}

}  // namespace pymemrun
