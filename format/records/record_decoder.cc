#include "format/records/record_decoder.h"

#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "format/batches/event_batch.h"
#include "format/batches/page_batch.h"
#include "format/batches/residency.h"
#include "format/batches/sparse_column.h"
#include "format/limits.h"
#include "format/records/format_version.h"
#include "format/records/record_bytes.h"
#include "format/stream/record_span.h"
#include "format/stream/status_util.h"
#include "format/timed/gil_batch.h"
#include "format/timed/state_batch.h"
#include "format/timed/task_batch.h"

namespace pymemrun {
namespace {

absl::Status CheckEntries(absl::string_view column, size_t count) {
  if (count <= kMaxBatchEntries) return absl::OkStatus();
  return WrongColumn(
      column, absl::StrCat("at most ", kMaxBatchEntries, " entries"), count);
}

bool Parse(absl::string_view bytes, google::protobuf::MessageLite* message) {
  return message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

}  // namespace

// Tells the visitor a definition, and keeps what later records are checked by.
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

// Makes sure that `id` is defined; after damage, by placeholders. Ids of a kind
// are 1, 2, 3 and so on, so one comparison tells. The limit bounds what a wrong
// id in a damaged file can cost.
template <class Def>
absl::Status RecordDecoder::Refer(uint32_t id, absl::string_view record,
                                  absl::string_view field) {
  const uint32_t defined = defined_.*DefTraits<Def>::kCount;
  if (id <= defined) return absl::OkStatus();
  if (!damage_seen_ || id - defined > kMaxPlaceholders - result_.placeholders) {
    return WrongColumn(absl::StrCat(record, field),
                       absl::StrCat("an id of at most ", defined), id);
  }
  Def placeholder;
  NamePlaceholder(&placeholder);
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

// Batches of rows, the most frequent records, are parsed without the Record
// around them.
absl::Status RecordDecoder::DecodeKind(absl::string_view record) {
  if (record.size() > kMaxKnownRecordBytes) {
    // A long record of a known kind would become many times its size.
    if (!BeginsWithKnownKind(record)) return DecodeUnknown();
    return WrongColumn(
        "record",
        absl::StrCat("at most ", kMaxKnownRecordBytes, " bytes of this kind"),
        record.size());
  }
  const std::optional<absl::string_view> events = OnlyEvents(record);
  const bool parsed =
      events.has_value() ? Parse(*events, &batch_) : Parse(record, &record_);
  if (!parsed) {
    RETURN_IF_ERROR(CheckFirst(Record::KIND_NOT_SET));
    return WrongColumn("record", "a pymemrun.Record",
                       absl::StrCat(record.size(), " bytes that are none"));
  }
  if (events.has_value()) return DecodeEvents(batch_);
  if (IsDefinition(record_.kind_case())) definition_bytes_ += record.size();
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
    case Record::kMapping:
      return Define(record.mapping());
    case Record::kEvents:
      return DecodeEvents(record.events());
    case Record::kPages:
      return DecodePages(record.pages());
    case Record::kResidency:
      return DecodeResidency(record.residency());
    case Record::kHeap:
      return DecodeHeap(record.heap());
    case Record::kGil:
      return DecodeGil(record.gil());
    case Record::kStates:
      return DecodeStates(record.states());
    case Record::kSched:
      return DecodeSched(record.sched());
    case Record::kTasks:
      return DecodeTasks(record.tasks());
    case Record::kObjectType:
      return DecodeObjectType(record.object_type());
    case Record::kObjectName:
      return Define(record.object_name());
    case Record::kObjects:
      return DecodeObjects(record.objects());
#define PYMEMRUN_FACT_CASE(kind, field, Message, Method, holds) \
  case Record::kind:                                            \
    RETURN_IF_ERROR(CheckFact(record.field(), #field));         \
    visitor_->Method(record.field());                           \
    return absl::OkStatus();
      PYMEMRUN_FACTS(PYMEMRUN_FACT_CASE)
#undef PYMEMRUN_FACT_CASE
    default:
      return DecodeUnknown();
  }
}

template <class Fact>
absl::Status RecordDecoder::CheckFact(const Fact& fact, const char* field) {
  if constexpr (std::is_same_v<Fact, HeapRates>) {
    return CheckHeapRates(fact);
  } else if constexpr (requires { fact.thread(); }) {
    return Refer<ThreadDef>(fact.thread(), field, ".thread");
  } else {
    return absl::OkStatus();
  }
}

// A newer writer of the same format version may have kinds of its own. They are
// counted, and are no damage.
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
      "not a pymemrun run file: expected a header as the first record, found "
      "another");
}

// The version comes first: in a newer format the other fields may mean
// anything. A second header is that of another run whose file was appended.
absl::Status RecordDecoder::DecodeHeader(const Header& header) {
  if (header.format_version() > kFormatVersion) {
    return absl::FailedPreconditionError(absl::StrCat(
        "expected format version ", kFormatVersion, ", found ",
        header.format_version(), ": a newer pymemrun wrote this file"));
  }
  if (header.format_version() == 0) {
    return absl::InvalidArgumentError(
        "not a pymemrun run file: expected a header with a format version, "
        "found none");
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
  if (result_.has_footer) return WrongColumn("footer", "one", "a second one");
  RETURN_IF_ERROR(
      Refer<SiteDef>(footer.max_rss_site(), "footer", ".max_rss_site"));
  RETURN_IF_ERROR(
      Refer<ThreadDef>(footer.max_rss_thread(), "footer", ".max_rss_thread"));
  result_.has_footer = true;
  visitor_->OnFooter(footer);
  return absl::OkStatus();
}

// The next id is due. A higher one is damage, or after damage a gap that
// placeholders fill. Both limits bound the memory of a reader.
template <class Def>
absl::Status RecordDecoder::Define(const Def& def) {
  const std::string field = absl::StrCat(DefTraits<Def>::kName, ".id");
  const uint32_t defined = defined_.*DefTraits<Def>::kCount;
  if (defined >= kMaxDefinitions || definition_bytes_ > kMaxDefinitionBytes) {
    return WrongColumn(
        field,
        absl::StrCat("at most ", kMaxDefinitions, " definitions of a kind and ",
                     kMaxDefinitionBytes, " bytes of them"),
        "more");
  }
  if (def.id() <= defined) {
    return WrongColumn(field, absl::StrCat(defined + 1), def.id());
  }
  RETURN_IF_ERROR(Refer<Def>(def.id() - 1, DefTraits<Def>::kName, ".id"));
  Emit(def);
  return absl::OkStatus();
}

absl::Status RecordDecoder::DecodeSite(const SiteDef& site) {
  if (!What_IsValid(site.what())) {
    return WrongColumn("site.what", absl::StrCat("at most ", What_MAX),
                       static_cast<int>(site.what()));
  }
  RETURN_IF_ERROR(Refer<CodeDef>(site.code(), "site", ".code"));
  RETURN_IF_ERROR(Refer<FunctionDef>(site.function(), "site", ".function"));
  return Define(site);
}

// A parent has a lower id than its child, so chains cannot be circles. Their
// depth is limited, too.
absl::Status RecordDecoder::DecodeStack(const StackDef& stack) {
  if (stack.id() != 0 && stack.parent() >= stack.id()) {
    return WrongColumn("stack.parent", absl::StrCat("an id below ", stack.id()),
                       stack.parent());
  }
  RETURN_IF_ERROR(Refer<StackDef>(stack.parent(), "stack", ".parent"));
  if (depths_.Below(stack.parent()) > kMaxStackNodes) {
    return WrongColumn("stack.parent",
                       absl::StrCat("at most ", kMaxStackNodes, " frames"),
                       "more");
  }
  RETURN_IF_ERROR(Refer<CodeDef>(stack.code(), "stack", ".code"));
  return Define(stack);
}

// The fields are "events.site" and so on.
absl::Status RecordDecoder::ReferAll(const BatchIds& ids, const char* batch) {
  RETURN_IF_ERROR(Refer<SiteDef>(ids.site, batch, ".site"));
  RETURN_IF_ERROR(Refer<ThreadDef>(ids.thread, batch, ".thread"));
  RETURN_IF_ERROR(Refer<StackDef>(ids.stack, batch, ".stack"));
  return Refer<MappingDef>(ids.mapping, batch, ".code");
}

// Gives the visitor all that `unrolled` has, in pieces, and counts it.
template <class Unrolled, class Entry>
void RecordDecoder::GiveAll(Unrolled&& unrolled, std::vector<Entry>* entries,
                            bool (RecordVisitor::*visit)(const Entry*, size_t),
                            uint64_t* given) {
  entries->resize(kEntriesPerCall);
  while (const size_t count = unrolled.Next(entries->data(), entries->size())) {
    *given += count;
    result_.stopped = !(visitor_->*visit)(entries->data(), count);
    if (result_.stopped) break;
  }
}

// As for every batch: columns first, then ids, then entries. So a bad batch
// gives none of its entries. This one may come past Dispatch(), hence
// CheckFirst().
absl::Status RecordDecoder::DecodeEvents(const EventBatch& batch) {
  BatchIds ids;
  uint64_t end_number;
  RETURN_IF_ERROR(CheckFirst(Record::kEvents));
  RETURN_IF_ERROR(CheckEntries("events.site", batch.site_size()));
  RETURN_IF_ERROR(
      EventBatchDecoder::Check(batch, next_number_, &ids, &end_number));
  RETURN_IF_ERROR(ReferAll(ids, "events"));
  next_number_ = end_number;
  GiveAll(EventBatchDecoder(batch, site_what_), &rows_, &RecordVisitor::OnRows,
          &result_.rows);
  return absl::OkStatus();
}

absl::Status RecordDecoder::DecodePages(const PageBatch& batch) {
  BatchIds ids;
  RETURN_IF_ERROR(CheckEntries("pages.page_step", batch.page_step_size()));
  RETURN_IF_ERROR(PageBatchDecoder::Check(batch, &ids));
  RETURN_IF_ERROR(ReferAll(ids, "pages"));
  GiveAll(PageBatchDecoder(batch), &entries_, &RecordVisitor::OnPages,
          &result_.page_entries);
  return absl::OkStatus();
}

absl::Status RecordDecoder::BeginHeap(const CheckedHeap& checked) {
  RETURN_IF_ERROR(CheckFirst(Record::kHeap));
  RETURN_IF_ERROR(checked.status);
  RETURN_IF_ERROR(ReferAll(checked.ids, "heap"));
  if (visitor_->heap_use() != HeapUse::kNone) {
    visitor_->OnHeapBatch(checked.facts);
  }
  return absl::OkStatus();
}

absl::Status RecordDecoder::DecodeHeap(const HeapBatch& batch) {
  RETURN_IF_ERROR(BeginHeap(HeapBatchDecoder::Check(batch)));
  if (visitor_->heap_use() != HeapUse::kEvents) return absl::OkStatus();
  if (heap_ == nullptr) heap_ = std::make_unique<HeapBatchDecoder>();
  heap_->Begin(batch);
  GiveAll(*heap_, &heap_events_, &RecordVisitor::OnHeap, &result_.heap_entries);
  return absl::OkStatus();
}

absl::Status RecordDecoder::DecodeGil(const GilBatch& batch) {
  GilBatchDecoder::Ids ids;
  RETURN_IF_ERROR(CheckEntries("gil.action", batch.action_size()));
  RETURN_IF_ERROR(GilBatchDecoder::Check(batch, &ids));
  RETURN_IF_ERROR(Refer<ThreadDef>(ids.thread, "gil", ".thread"));
  RETURN_IF_ERROR(Refer<StackDef>(ids.stack, "gil", ".stack"));
  RETURN_IF_ERROR(Refer<FunctionDef>(ids.function, "gil", ".function"));
  GiveAll(GilBatchDecoder(batch), &gil_events_, &RecordVisitor::OnGil,
          &result_.gil_entries);
  return absl::OkStatus();
}

absl::Status RecordDecoder::DecodeStates(const StateBatch& batch) {
  uint32_t thread = 0;
  RETURN_IF_ERROR(CheckEntries("states.action", batch.action_size()));
  RETURN_IF_ERROR(StateBatchDecoder::Check(batch, &thread));
  RETURN_IF_ERROR(Refer<ThreadDef>(thread, "states", ".thread"));
  if (batch.lost() != 0) visitor_->OnStatesLost(batch.lost());
  GiveAll(StateBatchDecoder(batch), &state_events_, &RecordVisitor::OnStates,
          &result_.state_entries);
  return absl::OkStatus();
}

absl::Status RecordDecoder::DecodeSched(const SchedBatch& batch) {
  uint32_t thread = 0;
  RETURN_IF_ERROR(CheckEntries("sched.thread", batch.thread_size()));
  RETURN_IF_ERROR(SchedBatchDecoder::Check(batch, &thread));
  RETURN_IF_ERROR(Refer<ThreadDef>(thread, "sched", ".thread"));
  GiveAll(SchedBatchDecoder(batch), &sched_samples_, &RecordVisitor::OnSched,
          &result_.sched_entries);
  return absl::OkStatus();
}

absl::Status RecordDecoder::DecodeTasks(const TaskBatch& batch) {
  TaskBatchDecoder::Ids ids;
  RETURN_IF_ERROR(CheckEntries("tasks.action", batch.action_size()));
  RETURN_IF_ERROR(TaskBatchDecoder::Check(batch, &ids));
  RETURN_IF_ERROR(Refer<ThreadDef>(ids.thread, "tasks", ".thread"));
  RETURN_IF_ERROR(Refer<StackDef>(ids.stack, "tasks", ".stack"));
  GiveAll(TaskBatchDecoder(batch), &task_events_, &RecordVisitor::OnTasks,
          &result_.task_entries);
  return absl::OkStatus();
}

absl::Status RecordDecoder::DecodeObjectType(const ObjectTypeDef& type) {
  if (type.id() != 0 && type.base() >= type.id()) {
    return WrongColumn("object_type.base",
                       absl::StrCat("an id below ", type.id()), type.base());
  }
  RETURN_IF_ERROR(Refer<ObjectTypeDef>(type.base(), "object_type", ".base"));
  return Define(type);
}

// All nodes before all references: the target of a reference may be a node of
// this batch or of a later one.
absl::Status RecordDecoder::DecodeObjects(const ObjectBatch& batch) {
  ObjectBatchChecker::Ids ids;
  RETURN_IF_ERROR(objects_.Check(batch, damage_seen_, &ids));
  RETURN_IF_ERROR(Refer<ObjectTypeDef>(ids.type, "objects", ".type"));
  RETURN_IF_ERROR(Refer<ObjectNameDef>(ids.name, "objects", ".edge_name"));
  std::vector<ObjectNode> nodes;
  GiveAll(ObjectNodeCursor(batch), &nodes, &RecordVisitor::OnObjects,
          &result_.objects);
  if (result_.stopped) return absl::OkStatus();
  std::vector<ObjectReference> references;
  GiveAll(ObjectReferenceCursor(batch), &references,
          &RecordVisitor::OnReferences, &result_.references);
  return absl::OkStatus();
}

absl::Status RecordDecoder::DecodeResidency(const Residency& residency) {
  uint32_t mapping = 0;
  RETURN_IF_ERROR(CheckResidency(residency, &mapping));
  RETURN_IF_ERROR(Refer<MappingDef>(mapping, "residency", ".mapping"));
  const std::vector<ResidentRange> ranges = RangesOf(residency);
  visitor_->OnResidency({residency.begin_us(), residency.time_us(),
                         residency.rss_bytes(), ranges});
  return absl::OkStatus();
}

}  // namespace pymemrun
