#include "format/records/record_bytes.h"

#include "format/record_kinds.h"
#include "format/stream/varint.h"

namespace pymemrun {

// Batches of rows are the bulk of a file. Found like this, a batch is parsed
// into a message that keeps its memory; within a Record it would be allocated
// anew. The key is one byte, and a length below 2^35 at most five.
std::optional<absl::string_view> OnlyEvents(absl::string_view record) {
  constexpr char kTag = Record::kEventsFieldNumber << 3 | 2;
  if (record.empty() || record[0] != kTag) return std::nullopt;
  uint64_t size = 0;
  for (size_t i = 1; i < record.size() && i < 6; ++i) {
    const uint64_t byte = static_cast<uint8_t>(record[i]);
    size |= (byte & 0x7F) << (7 * (i - 1));
    if (byte >= 0x80) continue;
    if (size != record.size() - i - 1) return std::nullopt;
    return record.substr(i + 1);
  }
  return std::nullopt;
}

// A cheap question about a record that may be too long to parse.
bool BeginsWithKnownKind(absl::string_view record) {
  uint64_t key;
  if (!TakeVarint(&record, &key)) return false;
  const auto kind = static_cast<Record::KindCase>(key >> 3);
  switch (kind) {
    case Record::kHeader:
    case Record::kFooter:
    case Record::kEvents:
    case Record::kPages:
    case Record::kResidency:
    case Record::kHeap:
    case Record::kGil:
    case Record::kStates:
    case Record::kSched:
    case Record::kObjects:
#define PYMEMRUN_FACT_CASE(kind, field, Message, Method, holds) \
  case Record::kind:
      PYMEMRUN_FACTS(PYMEMRUN_FACT_CASE)
#undef PYMEMRUN_FACT_CASE
      return true;
    default:
      return IsDefinition(kind);
  }
}

}  // namespace pymemrun
