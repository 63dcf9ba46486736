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

namespace {

constexpr uint32_t kNoLine = 0;

// Collects (position, line) in rising order of position, merging neighbours.
class Entries {
 public:
  void Add(uint64_t position, int64_t line) {
    if (position > UINT32_MAX) return;
    if (line < 0 || line > INT32_MAX) line = kNoLine;
    const LineTable::Entry entry = {static_cast<uint32_t>(position),
                                    static_cast<uint32_t>(line)};
    if (!list_.empty() && list_.back().position == entry.position) {
      list_.pop_back();  // an empty range
    }
    if (!list_.empty() && list_.back().line == entry.line) return;
    list_.push_back(entry);
  }
  const std::vector<LineTable::Entry>& list() const { return list_; }

 private:
  std::vector<LineTable::Entry> list_;
};

// CPython 3.9: pairs of (byte offset step, signed line step); a pair's line
// holds from the offset after its step on. The last line has no end.
void DecodeLnotab(int64_t line, absl::string_view bytes, Entries* out) {
  uint64_t offset = 0;
  out->Add(0, line);
  for (size_t i = 0; i + 1 < bytes.size(); i += 2) {
    offset += static_cast<uint8_t>(bytes[i]);
    line += static_cast<int8_t>(bytes[i + 1]);
    out->Add(offset / 2, line);
  }
}

// CPython 3.10 (PEP 626): pairs of (bytes covered, signed line step); -128 says
// that these bytes have no line. A range of no bytes only moves the line.
void DecodePep626(int64_t line, absl::string_view bytes, Entries* out) {
  uint64_t offset = 0;
  for (size_t i = 0; i + 1 < bytes.size(); i += 2) {
    const uint8_t covered = static_cast<uint8_t>(bytes[i]);
    const int8_t step = static_cast<int8_t>(bytes[i + 1]);
    if (step != -128) line += step;
    if (covered == 0) continue;
    out->Add(offset / 2, step == -128 ? int64_t{kNoLine} : line);
    offset += covered;
  }
  out->Add(offset / 2, kNoLine);
}

// Reads the 6-bit integers of the location table; past the end they are 0.
class LocationBytes {
 public:
  explicit LocationBytes(absl::string_view bytes) : bytes_(bytes) {}
  bool empty() const { return at_ >= bytes_.size(); }
  uint8_t Byte() { return empty() ? 0 : static_cast<uint8_t>(bytes_[at_++]); }
  uint32_t Unsigned() {
    uint32_t value = 0;
    for (int shift = 0; shift < 32; shift += 6) {
      const uint8_t byte = Byte();
      value |= static_cast<uint32_t>(byte & 63) << shift;
      if ((byte & 64) == 0) break;
    }
    return value;
  }
  // The sign is the lowest bit.
  int64_t Signed() {
    const uint32_t value = Unsigned();
    const int64_t size = value >> 1;
    return (value & 1) != 0 ? -size : size;
  }
  // The first byte of an entry is marked by its highest bit.
  void SkipToEntry() {
    while (!empty() && (static_cast<uint8_t>(bytes_[at_]) & 0x80) == 0) ++at_;
  }

 private:
  absl::string_view bytes_;
  size_t at_ = 0;
};

// CPython 3.11 on. Of an entry (first byte: 1, four bits of kind, three of
// length - 1) only the start line matters here, the columns are passed over.
void DecodeLocations(int64_t line, absl::string_view bytes, Entries* out) {
  constexpr int kOneLineFirst = 10, kNoColumns = 13, kLong = 14, kNone = 15;
  LocationBytes in(bytes);
  uint64_t position = 0;
  for (in.SkipToEntry(); !in.empty(); in.SkipToEntry()) {
    const uint8_t first = in.Byte();
    const int kind = (first >> 3) & 15;
    if (kind == kNoColumns || kind == kLong) {
      line += in.Signed();
    } else if (kind >= kOneLineFirst && kind < kNoColumns) {
      line += kind - kOneLineFirst;
    }
    out->Add(position, kind == kNone ? int64_t{kNoLine} : line);
    position += (first & 7) + 1;
  }
  out->Add(position, kNoLine);
}

}  // namespace

LineTable LineTable::Decode(LineTableKind kind, uint32_t first_line,
                            absl::string_view bytes) {
  LineTable table;
  table.first_line_ = first_line;
  if (bytes.empty()) return table;
  Entries entries;
  switch (kind) {
    case LineTableKind::kLnotab:
      DecodeLnotab(first_line, bytes, &entries);
      break;
    case LineTableKind::kPep626:
      DecodePep626(first_line, bytes, &entries);
      break;
    case LineTableKind::kLocations:
      DecodeLocations(first_line, bytes, &entries);
      break;
  }
  table.size_ = static_cast<uint32_t>(entries.list().size());
  table.entries_ = std::make_unique<Entry[]>(table.size_);
  std::copy(entries.list().begin(), entries.list().end(), table.entries_.get());
  return table;
}

uint32_t LineTable::LineAt(uint32_t position) const {
  if (size_ == 0 || static_cast<int32_t>(position) < 0) return first_line_;
  const Entry* const begin = entries_.get();
  const Entry* const after = std::upper_bound(
      begin, begin + size_, position,
      [](uint32_t at, const Entry& entry) { return at < entry.position; });
  return after == begin ? kNoLine : after[-1].line;
}

}  // namespace pymemrun
