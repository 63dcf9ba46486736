// A visitor that checks what readers rely on.
#ifndef PYMEMRUN_FORMAT_RECORDS_CHECKING_VISITOR_FOR_TESTS_H_
#define PYMEMRUN_FORMAT_RECORDS_CHECKING_VISITOR_FOR_TESTS_H_

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "format/limits.h"
#include "format/records/checking_events_for_tests.h"

namespace pymemrun {

// Ends the program when a promise of RecordVisitor's is broken, and keeps what
// came as one line each.
class CheckingVisitor : public CheckingEvents {
 public:
  explicit CheckingVisitor(bool keep_lines = true)
      : CheckingEvents(keep_lines) {}

  void OnHeader(const Header& h) override { Keep("header ", h.pid()); }
  void OnCode(const CodeDef& d) override { Define("code", d.id(), &codes_); }
  void OnFunction(const FunctionDef& d) override {
    Define("function", d.id(), &functions_);
  }
  void OnSite(const SiteDef& d) override {
    Check(d.code() <= codes_ && d.function() <= functions_);
    Check(What_IsValid(d.what()));
    Define("site", d.id(), &sites_);
  }
  void OnThread(const ThreadDef& d) override {
    Define("thread", d.id(), &threads_);
  }
  void OnStack(const StackDef& d) override {
    Check(d.parent() < d.id() && d.code() <= codes_);
    Define("stack", d.id(), &stacks_);
  }
  bool OnRows(const Row* rows, size_t count) override {
    Check(count > 0 && count <= kEntriesPerCall);
    for (size_t i = 0; i < count; ++i) OnRow(rows[i]);
    return true;
  }
  void OnMapping(const MappingDef& d) override {
    Define("mapping", d.id(), &mappings_);
  }
  bool OnPages(const PageEntry* entries, size_t count) override {
    Check(count > 0 && count <= kEntriesPerCall);
    for (size_t i = 0; i < count; ++i) OnEntry(entries[i]);
    return true;
  }
  void OnResidency(const ResidencyView& seen) override {
    Check(seen.begin_us <= seen.time_us);
    uint64_t end = 0;
    for (const ResidentRange& range : seen.ranges) {
      Check(range.page >= end && range.pages > 0);
      Check(range.mapping <= mappings_);
      end = range.page + range.pages;
      Check(end <= kMaxPage);
    }
    Keep("residency ", seen.time_us);
  }
  void OnPageLoss(const PageLoss& l) override {
    Keep("page loss ", l.samples());
  }
  void OnFork(const Fork& f) override { Keep("fork ", f.time_us()); }
  bool OnHeap(const HeapEvent* events, size_t count) override {
    Check(count > 0 && count <= kEntriesPerCall);
    for (size_t i = 0; i < count; ++i) OnHeapEvent(events[i]);
    return true;
  }
  void OnHeapRates(const HeapRates& r) override {
    Keep("heap rates ", r.mean_bytes());
  }
  void OnHeapLoss(const HeapLoss& l) override {
    Keep("heap loss ", l.events());
  }
  bool OnGil(const GilEvent* events, size_t count) override {
    Check(count > 0 && count <= kEntriesPerCall);
    for (size_t i = 0; i < count; ++i) OnGilEvent(events[i]);
    return true;
  }
  void OnGilLoss(const GilLoss& l) override { Keep("gil loss ", l.events()); }
  void OnGilRecording(const GilRecording& r) override {
    Keep("gil recording ", r.min_wait_ns());
  }
  void OnSource(const SourceFile& s) override {
    Keep("source ", s.size_bytes());
  }
  void OnMark(const Mark& m) override { Keep("mark ", m.time_us()); }
  void OnFooter(const Footer& f) override { Keep("footer ", f.events()); }
  void OnUnknown() override { Keep("unknown ", 0); }
  void OnDamage(const StreamReader::Damage& damage) override {
    Check(!damage.status.ok());
    damages_.push_back(absl::StrCat(damage.offset, "+", damage.bytes_lost, " ",
                                    damage.status.message()));
    if (!keep_) damages_.resize(1);
  }

  const std::vector<std::string>& damages() const { return damages_; }
  const std::vector<Row>& rows() const { return rows_; }

 private:
  void OnRow(const Row& row) {
    Check(row.site >= 1 && row.site <= sites_);
    Check(row.thread >= 1 && row.thread <= threads_);
    Check(row.stack <= stacks_ && row.number >= next_number_);
    next_number_ = row.number + 1;
    if (!keep_) return;
    rows_.push_back(row);
    Keep("row ", row.number);
  }
  void OnEntry(const PageEntry& entry) {
    Check(PageAction_IsValid(entry.action) && entry.weight >= 1);
    Check(entry.page < kMaxPage && entry.pages <= kMaxPage - entry.page);
    Check(entry.moved_to <= kMaxPage - entry.pages);
    Check(entry.thread >= 1 && entry.thread <= threads_);
    Check(entry.stack <= stacks_ && entry.code_mapping <= mappings_ &&
          entry.mapping <= mappings_);
    Keep("page ", entry.page);
  }
  void OnHeapEvent(const HeapEvent& event) {
    Check(event.thread >= 1 && event.thread <= threads_);
    Check(event.stack <= stacks_ && event.code <= mappings_);
    Check(HeapAllocator_IsValid(event.allocator));
    Check(!event.is_free || event.stack == 0);
    const bool of_block = event.free_of == HeapFreeOf::kBlock;
    Check(event.is_free || of_block);
    Check(!event.is_free || !of_block || event.size == 0);
    Keep(event.is_free ? "free " : "alloc ", event.address);
  }
  void OnGilEvent(const GilEvent& event) {
    Check(GilAction_IsValid(event.action) && event.gil >= 1);
    Check(event.thread >= 1 && event.thread <= threads_);
    Check(event.stack <= stacks_ && event.function <= functions_);
    Check(event.time_ns <= kMaxGilNanos && event.free_ns <= kMaxGilNanos);
    Check(event.paused_ns <= kMaxGilNanos && event.pauses <= kMaxGilNanos);
    Check(HasHold(event.action) || event.free_ns == 0);
    Check(HasGilStack(event.action) || event.stack == 0);
    Keep("gil ", event.time_ns);
  }
  uint32_t codes_ = 0, functions_ = 0, sites_ = 0;
  uint32_t mappings_ = 0;
  uint64_t next_number_ = 0;
  std::vector<std::string> damages_;
  std::vector<Row> rows_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_RECORDS_CHECKING_VISITOR_FOR_TESTS_H_
