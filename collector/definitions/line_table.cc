#include "collector/definitions/line_table.h"

#include <algorithm>
#include <vector>

namespace pymemrun {
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
