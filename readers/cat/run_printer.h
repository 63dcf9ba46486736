// Prints one run file: keeps its definitions, asks the filter, and gives the
// row writer what passes. pymemcat has one for each file.
#ifndef PYMEMRUN_READERS_CAT_RUN_PRINTER_H_
#define PYMEMRUN_READERS_CAT_RUN_PRINTER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "format/records/record_visitor.h"
#include "readers/cat/row_filter.h"
#include "readers/output/output_buffer.h"
#include "readers/replay/heap/heap_weights.h"
#include "readers/replay/rows/row_writer.h"
#include "readers/run/recorded.h"
#include "readers/run/replay_visitor.h"

namespace pymemrun {

// Whether rows may be NEXT and PREV, because not every event was logged.
bool HasContextRows(const Filters& filters);

// The output of all printers of a pymemcat command. Creates the writer with the
// first row or mark, when every file's header is known.
class PrintTarget {
 public:
  using MakeWriter =
      std::function<std::unique_ptr<RowWriter>(const RowWriter::Options&)>;

  PrintTarget(MakeWriter make, RowWriter::Options options,
              const OutputBuffer* output)
      : make_(std::move(make)), options_(std::move(options)), output_(output) {
    options_.with_context = false;
  }

  // A file has rows that are NEXT and PREV. Called by the thread that reads the
  // file, before its first row.
  void ExpectContext() {
    expect_context_.store(true, std::memory_order_relaxed);
  }
  // A file has rows with figures of calls, which have columns of their own.
  void ExpectCalls() { expect_calls_.store(true, std::memory_order_relaxed); }
  // The writer; its header was written.
  RowWriter* Writer() {
    if (writer_ == nullptr) Start();
    return writer_.get();
  }
  bool ok() const { return output_->ok(); }

  // Counts over all files.
  uint64_t next_rows = 0;
  uint64_t context_rows = 0;
  uint64_t marks = 0;
  uint64_t extra = 0;         // page events, heap events and events of the GIL
  uint64_t most_context = 0;  // before one row

 private:
  void Start();

  MakeWriter make_;
  RowWriter::Options options_;
  std::atomic<bool> expect_context_{false};
  std::atomic<bool> expect_calls_{false};
  const OutputBuffer* output_;
  std::unique_ptr<RowWriter> writer_;
};

// Not thread safe. Options, target and drss must outlive it.
class RunPrinter : public IndexingVisitor {
 public:
  // The most context rows that are held back until it is known whether their
  // row is printed. Before a row with more, the oldest are left out.
  static constexpr size_t kMaxHeldRows = 16384;

  // `drss` must outlive it.
  void SetThreadDrss(RowDrss* drss) { view_.thread_drss = drss; }
  // `net`: subtracts the tracer's own memory.
  RunPrinter(const FilterOptions* filter, bool net, uint32_t slot,
             PrintTarget* target);

  void OnHeader(const Header& header) override;
  // A kind of record that is to be printed, but that the run lacks, in the
  // words of LackText(); empty: none.
  std::string Missing() const;
  // Stops once the output has failed, or no later row can pass.
  bool OnRows(const Row* rows, size_t count) override;
  void OnMark(const Mark& mark) override;
  bool OnPages(const PageEntry* entries, size_t count) override;
  void OnHeapRates(const HeapRates& rates) override;
  bool OnHeap(const HeapEvent* events, size_t count) override;
  void OnGilRecording(const GilRecording&) override {
    recorded_.Add(Recorded::kGil);
  }
  bool OnGil(const GilEvent* events, size_t count) override;

  // Prints one row; returns false as OnRows() does.
  bool PrintRow(const Row& row);
  bool PrintPage(const PageEntry& entry);
  bool PrintHeap(const HeapEvent& event);
  bool PrintGil(const GilEvent& event);
  bool wants_pages() const { return extra_.pages; }
  bool wants_heap() const { return extra_.heap; }
  bool wants_gil() const { return extra_.gil; }
  uint64_t start_realtime_ns() const { return start_realtime_ns_; }

 private:
  void Hold(const Row& row);
  void Write(const Row& row);

  const bool net_;
  const ExtraRecords extra_;
  Recordings recorded_;
  PrintTarget* const target_;
  RowFilter filter_;
  RunView view_;
  uint64_t start_realtime_ns_ = 0;
  uint64_t last_next_ = 0;    // number of the last NEXT row printed
  uint64_t context_run_ = 0;  // context rows printed since then
  std::vector<Row> held_;
  HeapWeights weights_;
  uint32_t rates_ = 0;  // number of the current rates
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_CAT_RUN_PRINTER_H_
