// Decodes the records of a run file for a RecordVisitor. Used by ReadStream().
#ifndef PYMEMRUN_FORMAT_RECORDS_RECORD_DECODER_H_
#define PYMEMRUN_FORMAT_RECORDS_RECORD_DECODER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "format/batches/heap_batch.h"
#include "format/objects/object_batch.h"
#include "format/records/record_visitor.h"
#include "format/records/stack_depths.h"

namespace pymemrun {

// Highest id of each kind defined so far.
struct DefinedIds {
  uint32_t codes = 0;
  uint32_t functions = 0;
  uint32_t sites = 0;
  uint32_t threads = 0;
  uint32_t stacks = 0;
  uint32_t mappings = 0;
  uint32_t object_types = 0;
  uint32_t object_names = 0;
};

// Decodes one record at a time. Keeps what must be known across records: the
// highest ids, and depths of stacks. Not thread-safe. The visitor must outlive
// it.
class RecordDecoder {
 public:
  explicit RecordDecoder(RecordVisitor* visitor) : visitor_(visitor) {}
  // Decodes one serialised record. On failure the message names the field, the
  // expected value and the value found. The visitor then got nothing of the
  // record, or no rows of a bad batch.
  //
  // kDataLoss: this record is lost, and the next may be decoded.
  // kInvalidArgument (not a run file) and kFailedPrecondition (a newer format):
  // nothing more can be decoded.
  absl::Status Decode(absl::string_view record);
  // The same for a HeapBatch that the caller has parsed, in two steps: first
  // its facts, then its events. Does not count the record.
  absl::Status BeginHeap(const CheckedHeap& checked);
  void GiveHeap(const HeapEvent* events, size_t count) {
    result_.heap_entries += count;
    result_.stopped = !visitor_->OnHeap(events, count);
  }
  // Call this after records were lost: from then on definitions may be missing.
  // Before this call an undefined id is damage.
  void NoteDamage() { damage_seen_ = true; }
  const ReadResult& result() const { return result_; }
  ReadResult& result() { return result_; }
  const DefinedIds& defined() const { return defined_; }

 private:
  absl::Status DecodeKind(absl::string_view record);
  absl::Status Dispatch(const Record& record);
  template <class Fact>
  absl::Status CheckFact(const Fact& fact, const char* field);
  absl::Status CheckFirst(Record::KindCase kind) const;
  absl::Status DecodeHeader(const Header& header);
  absl::Status DecodeSite(const SiteDef& site);
  absl::Status DecodeStack(const StackDef& stack);
  absl::Status DecodeFooter(const Footer& footer);
  absl::Status DecodeEvents(const EventBatch& batch);
  absl::Status DecodePages(const PageBatch& batch);
  absl::Status DecodeResidency(const Residency& residency);
  absl::Status DecodeHeap(const HeapBatch& batch);
  absl::Status DecodeGil(const GilBatch& batch);
  absl::Status DecodeStates(const StateBatch& batch);
  absl::Status DecodeTasks(const TaskBatch& batch);
  absl::Status DecodeSched(const SchedBatch& batch);
  absl::Status DecodeObjectType(const ObjectTypeDef& type);
  absl::Status DecodeObjects(const ObjectBatch& batch);
  absl::Status DecodeUnknown();
  template <class Def>
  absl::Status Define(const Def& def);
  template <class Def>
  absl::Status Refer(uint32_t id, absl::string_view record,
                     absl::string_view field);
  absl::Status ReferAll(const BatchIds& ids, const char* batch);
  template <class Unrolled, class Entry>
  void GiveAll(Unrolled&& unrolled, std::vector<Entry>* entries,
               bool (RecordVisitor::*visit)(const Entry*, size_t),
               uint64_t* given);
  template <class Def>
  void Emit(const Def& def);

  RecordVisitor* visitor_;
  ReadResult result_;
  DefinedIds defined_;
  bool damage_seen_ = false;
  uint64_t definition_bytes_ = 0;
  uint64_t next_number_ = 0;     // smallest valid number of the next row
  std::vector<What> site_what_;  // by SiteDef.id
  StackDepths depths_;
  Record record_;  // reused, and so are batch_ and rows_
  EventBatch batch_;
  std::vector<Row> rows_;
  std::vector<PageEntry> entries_;
  std::vector<GilEvent> gil_events_;
  std::vector<StateEvent> state_events_;
  std::vector<TaskEvent> task_events_;
  std::vector<SchedSample> sched_samples_;
  std::unique_ptr<HeapBatchDecoder> heap_;  // made for the first batch
  std::vector<HeapEvent> heap_events_;
  ObjectBatchChecker objects_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_RECORDS_RECORD_DECODER_H_
