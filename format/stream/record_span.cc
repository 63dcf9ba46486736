#include "format/stream/record_span.h"

#include <algorithm>
#include <optional>

#include "format/record_kinds.h"
#include "format/stream/varint.h"
#include "format/trace.pb.h"

namespace pymemrun {
namespace {

// A time after all others.
constexpr uint64_t kEver = std::numeric_limits<uint64_t>::max();
// Spans are read from the wire format, without protobuf objects: the writer
// makes a span for every record, and parsing it again would cost more than
// encoding.
enum WireType { kVarint = 0, kBytes = 2 };

// The first byte of a record with this kind. REQUIRES: field < 16, so that the
// key is one byte.
constexpr char KeyOf(int field) {
  return static_cast<char>(field << 3 | kBytes);
}

// One field of a message; `bytes` of kBytes, `value` of kVarint.
struct Field {
  uint32_t number;
  uint64_t value;
  absl::string_view bytes;
};

// Removes a field from the front. Returns false for other wire types.
bool TakeField(absl::string_view* message, Field* field) {
  uint64_t key;
  field->bytes = absl::string_view();
  if (!TakeVarint(message, &key) || key >> 3 > 0xffff) return false;
  field->number = static_cast<uint32_t>(key >> 3);
  if (!TakeVarint(message, &field->value)) return false;
  if ((key & 7) == kVarint) return true;
  if ((key & 7) != kBytes || field->value > message->size()) return false;
  field->bytes = message->substr(0, static_cast<size_t>(field->value));
  message->remove_prefix(field->bytes.size());
  return true;
}

// Number of varints in a packed column. The last byte of each has its high bit
// clear.
uint64_t CountOf(absl::string_view packed) {
  return static_cast<uint64_t>(std::count_if(
      packed.begin(), packed.end(),
      [](char c) { return (static_cast<uint8_t>(c) & 0x80) == 0; }));
}

// Of a packed column; modulo 2^64.
uint64_t SumOf(absl::string_view packed) {
  uint64_t sum = 0, value;
  while (TakeVarint(&packed, &value)) sum += value;
  return sum;
}

FrameSpan Needed() {
  FrameSpan span;
  span.needed = true;
  return span;
}

// Span of an EventBatch, from the columns with its times and numbers. Rows rise
// in number and time, so the first values and the sums of the steps give both
// ends. context_at is a list of distances: its sum is the last row that is
// context.
std::optional<FrameSpan> SpanOfBatch(absl::string_view batch) {
  FrameSpan span;
  uint64_t rows = 0, skipped = 0, contexts = 0, last_context = 0;
  span.first_us = 0;
  Field field;
  while (!batch.empty()) {
    if (!TakeField(&batch, &field)) return std::nullopt;
    switch (field.number) {
      case EventBatch::kSiteFieldNumber:
        rows = CountOf(field.bytes);
        break;
      case EventBatch::kFirstNumberFieldNumber:
        span.first_number = field.value;
        break;
      case EventBatch::kFirstUsFieldNumber:
        span.first_us = field.value;
        break;
      case EventBatch::kNumberSkipFieldNumber:
        skipped = SumOf(field.bytes);
        break;
      case EventBatch::kTimeStepFieldNumber:
        span.last_us = SumOf(field.bytes);
        break;
      case EventBatch::kContextAtFieldNumber:
        contexts = CountOf(field.bytes);
        last_context = SumOf(field.bytes);
        break;
      default:
        break;
    }
  }
  span.last_us += span.first_us;
  span.end_number = span.first_number + rows + skipped;
  span.ends_in_context = contexts != 0 && last_context == rows - 1;
  span.only_context = span.ends_in_context && contexts == rows;
  if (span.last_us < span.first_us || rows == 0) return std::nullopt;
  return span;
}

// Span of a batch with these two time fields.
std::optional<FrameSpan> SpanOfTimes(absl::string_view batch,
                                     uint32_t first_us_field,
                                     uint32_t time_step_field) {
  uint64_t first_us = 0, lasted_us = 0;
  Field field;
  while (!batch.empty()) {
    if (!TakeField(&batch, &field)) return std::nullopt;
    if (field.number == first_us_field) {
      first_us = field.value;
    } else if (field.number == time_step_field) {
      lasted_us = SumOf(field.bytes);
    }
  }
  FrameSpan span;
  span.first_us = first_us;
  span.last_us = first_us + lasted_us;
  if (span.last_us < span.first_us) return std::nullopt;
  return span;
}

// The state of a thread may come from earlier entries, so readers of any later
// time need all batches.
FrameSpan SpanOfNanos(absl::string_view batch) {
  static_assert(GilBatch::kFirstNsFieldNumber ==
                StateBatch::kFirstNsFieldNumber);
  static_assert(GilBatch::kTimeStepNsFieldNumber ==
                StateBatch::kTimeStepNsFieldNumber);
  static_assert(GilBatch::kFirstNsFieldNumber ==
                TaskBatch::kFirstNsFieldNumber);
  static_assert(GilBatch::kTimeStepNsFieldNumber ==
                TaskBatch::kTimeStepNsFieldNumber);
  std::optional<FrameSpan> span = SpanOfTimes(
      batch, GilBatch::kFirstNsFieldNumber, GilBatch::kTimeStepNsFieldNumber);
  if (!span.has_value()) return Needed();
  span->first_us /= 1000;
  span->last_us /= 1000;
  span->needed = true;
  return *span;
}

// Orders the two, since a damaged or odd record may have them reversed.
FrameSpan At(uint64_t first_us, uint64_t last_us) {
  FrameSpan span;
  span.first_us = std::min(first_us, last_us);
  span.last_us = std::max(first_us, last_us);
  return span;
}

// A fact that all readers need counts as such, with or without its times.
// Others have one time or two.
template <class Fact>
FrameSpan SpanOfFact(const Fact& fact, FactHolds holds) {
  if (holds == FactHolds::kNeeded) return Needed();
  FrameSpan span;
  if constexpr (requires { fact.from_us(); }) {
    span = At(fact.from_us(), fact.to_us());
  } else if constexpr (requires { fact.time_us(); }) {
    span = At(fact.time_us(), fact.time_us());
  }
  span.needed = holds == FactHolds::kTimeAndNeeded;
  return span;
}

// Other records are parsed; in run files they are rare.
FrameSpan SpanOfOther(absl::string_view bytes) {
  Record record;
  if (!record.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Needed();
  }
  switch (record.kind_case()) {
    case Record::kResidency:
      return At(record.residency().begin_us(), record.residency().time_us());
#define PYMEMRUN_FACT_CASE(kind, field, Message, Method, holds) \
  case Record::kind:                                            \
    return SpanOfFact(record.field(), FactHolds::holds);
      PYMEMRUN_FACTS(PYMEMRUN_FACT_CASE)
#undef PYMEMRUN_FACT_CASE
    default:
      return Needed();
  }
}

}  // namespace

// Times and numbers: the smallest range that holds both. Whether it ends in
// context depends on the last span with rows.
void FrameSpan::Join(const FrameSpan& next) {
  bytes += next.bytes;
  needed |= next.needed;
  first_us = std::min(first_us, next.first_us);
  last_us = std::max(last_us, next.last_us);
  if (!next.has_rows()) return;
  only_context = next.only_context && (only_context || !has_rows());
  if (!has_rows()) first_number = end_number = next.first_number;
  first_number = std::min(first_number, next.first_number);
  end_number = std::max(end_number, next.end_number);
  ends_in_context = next.ends_in_context;
}

bool HoldsEvents(absl::string_view record) {
  Field field;
  if (!TakeField(&record, &field) || !record.empty()) return false;
  return field.number == Record::kEventsFieldNumber ||
         field.number == Record::kHeapFieldNumber;
}

bool HoldsHeap(absl::string_view record) {
  Field field;
  return TakeField(&record, &field) && record.empty() &&
         field.number == Record::kHeapFieldNumber;
}

// One field that is the whole record: protobuf would merge a second one.
bool HoldsRowsOnly(absl::string_view record) {
  Field field;
  if (!TakeField(&record, &field) || !record.empty()) return false;
  return field.number == Record::kEventsFieldNumber ||
         field.number == Record::kPagesFieldNumber ||
         field.number == Record::kResidencyFieldNumber ||
         field.number == Record::kHeapFieldNumber ||
         field.number == Record::kGilFieldNumber ||
         field.number == Record::kStatesFieldNumber ||
         field.number == Record::kSchedFieldNumber ||
         field.number == Record::kTasksFieldNumber;
}

// A span may claim too much, which costs time, but never too little, which
// would hide rows. So a batch that cannot be read counts for all times and
// numbers.
FrameSpan SpanOfRecord(absl::string_view record) {
  // Definitions are frequent; their first byte identifies them.
  const char key = record.empty() ? 0 : record[0];
  if (key >= KeyOf(Record::kHeaderFieldNumber) &&
      key <= KeyOf(Record::kStackFieldNumber)) {
    return Needed();
  }
  absl::string_view rest = record;
  Field field;
  const bool one_field = TakeField(&rest, &field) && rest.empty();
  FrameSpan any = At(0, kEver);
  if (one_field && field.number == Record::kPagesFieldNumber) {
    return SpanOfTimes(field.bytes, PageBatch::kFirstUsFieldNumber,
                       PageBatch::kTimeStepFieldNumber)
        .value_or(any);
  }
  if (one_field && field.number == Record::kHeapFieldNumber) {
    return SpanOfTimes(field.bytes, HeapBatch::kFirstUsFieldNumber,
                       HeapBatch::kTimeStepFieldNumber)
        .value_or(any);
  }
  if (one_field && (field.number == Record::kGilFieldNumber ||
                    field.number == Record::kStatesFieldNumber ||
                    field.number == Record::kTasksFieldNumber)) {
    return SpanOfNanos(field.bytes);
  }
  if (one_field && field.number == Record::kEventsFieldNumber) {
    any.end_number = kEver;
    any.ends_in_context = any.only_context = true;
    return SpanOfBatch(field.bytes).value_or(any);
  }
  return SpanOfOther(record);
}

}  // namespace pymemrun
