// Converts slots of the event ring to records of the run file.
#ifndef PYMEMRUN_COLLECTOR_EVENTS_EVENT_ENCODER_H_
#define PYMEMRUN_COLLECTOR_EVENTS_EVENT_ENCODER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "collector/definitions/definition_table.h"
#include "collector/events/fact_writer.h"
#include "collector/events/site_cache.h"
#include "collector/heap/heap_collector.h"
#include "collector/output/record_sink.h"
#include "collector/process/clock_scale.h"
#include "collector/side/ring_merger.h"
#include "format/batches/event_batch.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// A state machine over slots: a span may end anywhere, even inside a
// definition. Rows are collected into batches. A batch is written when it is
// large, before each fact (mark, loss, ...), and by EndBatch(). Definitions are
// written at once, so they precede the batch that uses them.
//
// Never fails: invalid slots are counted and skipped. Not thread-safe. `clock`
// and `out` must outlive it.
class EventEncoder final : public RingMerger::SlotTaker {
 public:
  EventEncoder(uint32_t page_bytes, const ClockScale* clock, RecordSink* out);

  // Sets the time of the start. REQUIRES: `clock` was started.
  void Start(uint64_t start_stamp) { stamp_ = start_stamp; }

  // Taker of heap events; without it they count as bad slots. Must outlive the
  // last call of Consume().
  void set_heap(HeapCollector* heap) { heap_ = heap; }

  void Consume(const EventSlot* slots, size_t count) override;
  void SkipTo(uint64_t index) override;

  // Writes the rows collected so far, if any.
  void EndBatch();
  // The same for rows and heap events: before a record that must keep its place
  // between events.
  void EndBatches();
  // Call this after the clock was measured again.
  void ClockChanged() { next_step_stamp_ = 0; }

  const RowTotals& totals() const { return totals_; }
  uint32_t rows_in_batch() const { return rows_; }
  uint64_t next_index() const override { return chunk_index_; }
  // New path of the run file if the script has changed it; otherwise empty.
  const std::string& output() const { return facts_.output(); }
  const DumpsMade& dumps() const { return facts_.dumps(); }
  uint64_t refused_counters() const { return facts_.refused_counters(); }
  uint64_t bad_slots() const { return bad_slots_; }
  DefinitionTable& definitions() { return definitions_; }

 private:
  static constexpr uint32_t kNoRow = ~0u;

  // State slots seen since the last row.
  enum Pending : uint32_t {
    kBegin = 1,  // the next row is the first of its batch
    kNumber = 2,
    kRss = 4,
    kThread = 8,
    kStack = 16,
    kCall = 32,
  };

  void ConsumeChunk(const EventSlot* slots, size_t count);
  // The hot loop: takes rows. Returns the first slot of another kind, or `end`.
  const EventSlot* ConsumeRows(const EventSlot* slot, const EventSlot* end);
  const EventSlot* ConsumeHeap(const EventSlot* slot, const EventSlot* end);
  uint64_t StepTime(uint32_t row, uint64_t stamp, uint32_t step);
  void CountStepBack(uint64_t units);
  void RowExtras(uint32_t row, uint32_t what_and_code, uint32_t site);
  void RssExtra(uint32_t row, uint32_t site);
  void CallExtra(uint32_t row, uint32_t what_and_code);
  void MarkInexact(uint32_t rows);
  uint32_t FindSite(const RawPlace& place);
  void ForgetSites();
  void Forget(ControlKind kind);

  void Control(const ControlSlot& slot);
  void SetClock(uint64_t stamp);
  void SetCall(ControlKind kind, const ControlSlot& slot);
  void TakePayload(const EventSlot** slots, const EventSlot* end);
  void FinishPayload();
  const uint64_t page_bytes_;
  const ClockScale* clock_;
  RecordSink* out_;
  HeapCollector* heap_ = nullptr;
  DefinitionTable definitions_;
  SiteCache cache_;
  // Sites that the cache had no room for.
  absl::flat_hash_map<std::pair<uint64_t, uint32_t>, uint32_t> places_;
  EventBatchEncoder batch_;

  uint32_t rows_ = 0;             // in the batch...
  uint32_t context_rows_ = 0;     // ...and of these, context
  uint64_t number_offset_ = 0;    // number of the next row, less rows_
  uint64_t stamp_ = 0;            // base of the next row's tsc_low
  uint64_t row_stamp_ = 0;        // time stamp of the last row
  uint64_t next_step_stamp_ = 0;  // below it the microsecond is the same
  uint64_t last_us_ = 0;
  uint64_t rss_bytes_ = 0;
  uint32_t thread_ = 0;
  EncodedSite last_site_ = 0;
  uint32_t pending_ = kBegin;
  uint64_t pending_number_ = 0;
  ControlSlot pending_rss_ = {};
  uint32_t pending_thread_ = 0;
  uint32_t pending_stack_ = 0;
  ControlSlot pending_call_ = {};
  uint64_t pending_call_stamp_ = 0;
  uint32_t heap_size_high_ = 0;  // of the next allocation
  // The current span, and the ring index of its first slot.
  const EventSlot* chunk_ = nullptr;
  uint64_t chunk_index_ = 0;
  // First row of the batch whose RSS is an estimate.
  uint32_t inexact_from_ = kNoRow;

  // The definition or fact that is being read.
  uint64_t payload_left_ = 0;
  ControlSlot payload_head_ = {};
  std::string payload_;
  std::string chunks_;

  uint64_t bad_slots_ = 0;
  RowTotals totals_;
  FactWriter facts_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_EVENTS_EVENT_ENCODER_H_
