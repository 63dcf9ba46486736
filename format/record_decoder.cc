#include "format/record_decoder.h"

#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "format/batch_rows.h"
#include "format/definition_kinds.h"
#include "format/format_version.h"
#include "format/page_rows.h"
#include "format/record_span.h"
#include "format/sparse_column.h"
#include "format/status_util.h"
#include "format/varint.h"

namespace pymemrun {
namespace {

// What one file may make its readers hold, whatever it claims. Real runs stay
// far below.
constexpr size_t kMaxKnownRecordBytes = 4 * 1024 * 1024;
constexpr uint64_t kMaxDefinitionBytes = 256 * 1024 * 1024;
constexpr uint32_t kMaxDefinitions = 1 << 24;
constexpr uint32_t kMaxPlaceholders = 1 << 20;
// Of rows, page events or heap events in one record.
constexpr size_t kMaxEntries = 1 << 20;
constexpr size_t kRowsPerCall = 4096;

absl::Status Wrong(absl::string_view field, absl::string_view expected,
                   absl::string_view found) {
  return absl::DataLossError(
      absl::StrCat(field, ": expected ", expected, ", found ", found));
}

absl::Status CheckEntries(absl::string_view column, size_t count) {
  if (count <= kMaxEntries) return absl::OkStatus();
  return Wrong(column, absl::StrCat("at most ", kMaxEntries, " entries"),
               absl::StrCat(count));
}

// The length-delimited payload of `record` when its one field is `events`.
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

bool BeginsWithKnownKind(absl::string_view record) {
  uint64_t key;
  if (!TakeVarint(&record, &key)) return false;
  const uint64_t kind = key >> 3;
  return (kind >= Record::kHeaderFieldNumber &&
          kind <= Record::kPauseFieldNumber) ||
         (kind >= Record::kMappingFieldNumber &&
          kind <= Record::kForkFieldNumber) ||
         (kind >= Record::kHeapFieldNumber &&
          kind <= Record::kHeapLossFieldNumber);
}

bool Parse(absl::string_view bytes, google::protobuf::MessageLite* message) {
  return message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

}  // namespace

template <class Def>
void RecordDecoder::Emit(const Def& def) {
  ++(defined_.*DefTraits<Def>::kCount);
  if constexpr (std::is_same_v<Def, SiteDef>) {
    if (site_what_.empty()) site_what_.push_back(CALL);  // ids start at 1
    site_what_.push_back(def.what());
  }
  if constexpr (std::is_same_v<Def, StackDef>) depths_.Add(def.parent());
  (visitor_->*DefTraits<Def>::kVisit)(def);
}

// Makes sure that `id` is defined; after damage, by placeholders.
template <class Def>
absl::Status RecordDecoder::Refer(uint32_t id, absl::string_view field) {
  const uint32_t defined = defined_.*DefTraits<Def>::kCount;
  if (id <= defined) return absl::OkStatus();
  if (!damage_seen_ || id - defined > kMaxPlaceholders - result_.placeholders) {
    return Wrong(field, absl::StrCat("an id of at most ", defined),
                 absl::StrCat(id));
  }
  Def placeholder;
  DefTraits<Def>::MakePlaceholder(&placeholder);
  for (uint32_t made = defined + 1; made <= id; ++made) {
    placeholder.set_id(made);
    Emit(placeholder);
    ++result_.placeholders;
  }
  return absl::OkStatus();
}

absl::Status RecordDecoder::Decode(absl::string_view record) {
  const absl::Status status = DecodeKind(record);
  if (status.ok()) {
    ++result_.records;
  } else if (!HoldsRowsOnly(record)) {
    damage_seen_ = true;  // it may have been a definition
  }
  return status;
}

absl::Status RecordDecoder::DecodeKind(absl::string_view record) {
  if (record.size() > kMaxKnownRecordBytes) {
    // A long record of a known kind would become many times its size.
    if (!BeginsWithKnownKind(record)) return DecodeUnknown();
    return Wrong(
        "record",
        absl::StrCat("at most ", kMaxKnownRecordBytes, " bytes of this kind"),
        absl::StrCat(record.size()));
  }
  const std::optional<absl::string_view> events = OnlyEvents(record);
  const bool parsed =
      events.has_value() ? Parse(*events, &batch_) : Parse(record, &record_);
  if (!parsed) {
    RETURN_IF_ERROR(CheckFirst(Record::KIND_NOT_SET));
    return Wrong("record", "a pymemrun.Record",
                 absl::StrCat(record.size(), " bytes that are none"));
  }
  if (events.has_value()) return DecodeEvents(batch_);
  switch (record_.kind_case()) {
    case Record::kCode:
    case Record::kFunction:
    case Record::kSite:
    case Record::kThread:
    case Record::kStack:
    case Record::kMapping:
      definition_bytes_ += record.size();
      break;
    default:
      break;
  }
  return Dispatch(record_);
}

absl::Status RecordDecoder::Dispatch(const Record& record) {
  RETURN_IF_ERROR(CheckFirst(record.kind_case()));
  switch (record.kind_case()) {
    case Record::kHeader:
      return DecodeHeader(record.header());
    case Record::kFooter:
      return DecodeFooter(record.footer());
    case Record::kCode:
      return Define(record.code());
    case Record::kFunction:
      return Define(record.function());
    case Record::kSite:
      return DecodeSite(record.site());
    case Record::kThread:
      return Define(record.thread());
    case Record::kStack:
      return DecodeStack(record.stack());
    case Record::kEvents:
      return DecodeEvents(record.events());
    default:
      return DispatchOther(record);
  }
}

// Records that stand for themselves: neither definitions nor rows.
absl::Status RecordDecoder::DispatchOther(const Record& record) {
  switch (record.kind_case()) {
    case Record::kMark:
      RETURN_IF_ERROR(Refer<ThreadDef>(record.mark().thread(), "mark.thread"));
      visitor_->OnMark(record.mark());
      return absl::OkStatus();
    case Record::kProfilerGap:
      RETURN_IF_ERROR(Refer<ThreadDef>(record.profiler_gap().thread(),
                                       "profiler_gap.thread"));
      visitor_->OnProfilerGap(record.profiler_gap());
      return absl::OkStatus();
    case Record::kLoss:
      visitor_->OnLoss(record.loss());
      return absl::OkStatus();
    case Record::kProcess:
      visitor_->OnProcess(record.process());
      return absl::OkStatus();
    case Record::kPeak:
      visitor_->OnPeak(record.peak());
      return absl::OkStatus();
    case Record::kGauge:
      visitor_->OnGauge(record.gauge());
      return absl::OkStatus();
    case Record::kPause:
      visitor_->OnPause(record.pause());
      return absl::OkStatus();
    default:
      return DispatchPages(record);
  }
}

absl::Status RecordDecoder::DispatchPages(const Record& record) {
  switch (record.kind_case()) {
    case Record::kMapping:
      return Define(record.mapping());
    case Record::kPages:
      return DecodePages(record.pages());
    case Record::kResidency:
      return DecodeResidency(record.residency());
    case Record::kPageLoss:
      visitor_->OnPageLoss(record.page_loss());
      return absl::OkStatus();
    case Record::kFork:
      visitor_->OnFork(record.fork());
      return absl::OkStatus();
    default:
      return DispatchHeap(record);
  }
}

absl::Status RecordDecoder::DispatchHeap(const Record& record) {
  switch (record.kind_case()) {
    case Record::kHeap:
      return DecodeHeap(record.heap());
    case Record::kHeapRates:
      RETURN_IF_ERROR(CheckHeapRates(record.heap_rates()));
      visitor_->OnHeapRates(record.heap_rates());
      return absl::OkStatus();
    case Record::kHeapLoss:
      visitor_->OnHeapLoss(record.heap_loss());
      return absl::OkStatus();
    default:
      return DecodeUnknown();
  }
}

absl::Status RecordDecoder::DecodeUnknown() {
  RETURN_IF_ERROR(CheckFirst(Record::KIND_NOT_SET));
  ++result_.unknown_records;
  visitor_->OnUnknown();
  return absl::OkStatus();
}

// A file begins with its header, unless damage took that away.
absl::Status RecordDecoder::CheckFirst(Record::KindCase kind) const {
  if (result_.has_header || damage_seen_ || kind == Record::kHeader) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      "not a run file: expected a header as the first record, found another");
}

absl::Status RecordDecoder::DecodeHeader(const Header& header) {
  if (header.format_version() > kFormatVersion) {
    return absl::FailedPreconditionError(absl::StrCat(
        "expected format version ", kFormatVersion, ", found ",
        header.format_version(), ": a newer pymemrun wrote this file"));
  }
  if (header.format_version() == 0) {
    return absl::InvalidArgumentError(
        "not a run file: expected a header with a format version, found none");
  }
  if (result_.has_header || result_.records != 0) {
    result_.second_run = true;
    return SecondRunError();
  }
  result_.has_header = true;
  visitor_->OnHeader(header);
  return absl::OkStatus();
}

absl::Status RecordDecoder::DecodeFooter(const Footer& footer) {
  if (result_.has_footer) return Wrong("footer", "one", "a second one");
  RETURN_IF_ERROR(Refer<SiteDef>(footer.max_rss_site(), "footer.max_rss_site"));
  RETURN_IF_ERROR(
      Refer<ThreadDef>(footer.max_rss_thread(), "footer.max_rss_thread"));
  result_.has_footer = true;
  visitor_->OnFooter(footer);
  return absl::OkStatus();
}

template <class Def>
absl::Status RecordDecoder::Define(const Def& def) {
  const std::string field = absl::StrCat(DefTraits<Def>::kName, ".id");
  const uint32_t defined = defined_.*DefTraits<Def>::kCount;
  if (defined >= kMaxDefinitions || definition_bytes_ > kMaxDefinitionBytes) {
    return Wrong(
        field,
        absl::StrCat("at most ", kMaxDefinitions, " definitions of a kind and ",
                     kMaxDefinitionBytes, " bytes of them"),
        "more");
  }
  if (def.id() <= defined) {
    return Wrong(field, absl::StrCat(defined + 1), absl::StrCat(def.id()));
  }
  RETURN_IF_ERROR(Refer<Def>(def.id() - 1, field));
  Emit(def);
  return absl::OkStatus();
}

absl::Status RecordDecoder::DecodeSite(const SiteDef& site) {
  if (!What_IsValid(site.what())) {
    return Wrong("site.what", absl::StrCat("at most ", What_MAX),
                 absl::StrCat(static_cast<int>(site.what())));
  }
  RETURN_IF_ERROR(Refer<CodeDef>(site.code(), "site.code"));
  RETURN_IF_ERROR(Refer<FunctionDef>(site.function(), "site.function"));
  return Define(site);
}

absl::Status RecordDecoder::DecodeStack(const StackDef& stack) {
  if (stack.id() != 0 && stack.parent() >= stack.id()) {
    return Wrong("stack.parent", absl::StrCat("an id below ", stack.id()),
                 absl::StrCat(stack.parent()));
  }
  RETURN_IF_ERROR(Refer<StackDef>(stack.parent(), "stack.parent"));
  if (depths_.Below(stack.parent()) > kMaxStackNodes) {
    return Wrong("stack.parent",
                 absl::StrCat("at most ", kMaxStackNodes, " frames"), "more");
  }
  RETURN_IF_ERROR(Refer<CodeDef>(stack.code(), "stack.code"));
  return Define(stack);
}

absl::Status RecordDecoder::DecodeEvents(const EventBatch& batch) {
  RETURN_IF_ERROR(CheckFirst(Record::kEvents));
  RETURN_IF_ERROR(CheckEntries("events.site", batch.site_size()));
  BatchIds ids;
  uint64_t end_number;
  RETURN_IF_ERROR(CheckBatch(batch, next_number_, &ids, &end_number));
  RETURN_IF_ERROR(Refer<SiteDef>(ids.site, "events.site"));
  RETURN_IF_ERROR(Refer<ThreadDef>(ids.thread, "events.thread"));
  RETURN_IF_ERROR(Refer<StackDef>(ids.stack, "events.stack"));
  next_number_ = end_number;
  rows_.resize(kRowsPerCall);
  BatchRows unrolled(batch, site_what_);
  while (const size_t count = unrolled.Next(rows_.data(), rows_.size())) {
    result_.rows += count;
    if (!visitor_->OnRows(rows_.data(), count)) {
      result_.stopped = true;
      break;
    }
  }
  return absl::OkStatus();
}

absl::Status RecordDecoder::DecodePages(const PageBatch& batch) {
  PageIds ids;
  RETURN_IF_ERROR(CheckEntries("pages.page_step", batch.page_step_size()));
  RETURN_IF_ERROR(CheckPageBatch(batch, &ids));
  RETURN_IF_ERROR(Refer<ThreadDef>(ids.thread, "pages.thread"));
  RETURN_IF_ERROR(Refer<StackDef>(ids.stack, "pages.stack"));
  RETURN_IF_ERROR(Refer<MappingDef>(ids.mapping, "pages.code"));
  entries_.resize(kRowsPerCall);
  PageRows unrolled(batch);
  while (const size_t count = unrolled.Next(entries_.data(), entries_.size())) {
    result_.page_entries += count;
    if (!visitor_->OnPages(entries_.data(), count)) {
      result_.stopped = true;
      break;
    }
  }
  return absl::OkStatus();
}

absl::Status RecordDecoder::DecodeHeap(const HeapBatch& batch) {
  uint32_t thread = 0, stack = 0, mapping = 0;
  RETURN_IF_ERROR(CheckEntries("heap.op", batch.op().size()));
  RETURN_IF_ERROR(CheckHeapBatch(batch));
  RETURN_IF_ERROR(CheckIds("heap.thread", batch.thread(), 1, &thread));
  RETURN_IF_ERROR(CheckIds("heap.stack", batch.stack(), 0, &stack));
  RETURN_IF_ERROR(CheckIds("heap.code", batch.code(), 0, &mapping));
  RETURN_IF_ERROR(Refer<ThreadDef>(thread, "heap.thread"));
  RETURN_IF_ERROR(Refer<StackDef>(stack, "heap.stack"));
  RETURN_IF_ERROR(Refer<MappingDef>(mapping, "heap.code"));
  if (heap_ == nullptr) heap_ = std::make_unique<HeapDecoder>();
  heap_->Decode(batch, [this](const HeapEvent* events, size_t count) {
    result_.heap_entries += count;
    result_.stopped = !visitor_->OnHeap(events, count);
    return !result_.stopped;
  });
  return absl::OkStatus();
}

absl::Status RecordDecoder::DecodeResidency(const Residency& residency) {
  PageIds ids;
  RETURN_IF_ERROR(CheckResidency(residency, &ids));
  RETURN_IF_ERROR(Refer<MappingDef>(ids.mapping, "residency.mapping"));
  const std::vector<ResidentRange> ranges = RangesOf(residency);
  visitor_->OnResidency({residency.begin_us(), residency.time_us(),
                         residency.rss_bytes(), ranges});
  return absl::OkStatus();
}

}  // namespace pymemrun
