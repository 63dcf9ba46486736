// Prints rows, marks, page events and heap events as text, CSV or JSON lines.
// One writer prints the rows of all files of a pymemcat command.
#ifndef PYMEMRUN_READERS_REPLAY_ROWS_ROW_WRITER_H_
#define PYMEMRUN_READERS_REPLAY_ROWS_ROW_WRITER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "format/records/record_visitor.h"
#include "readers/output/output_buffer.h"
#include "readers/replay/rows/row_columns.h"
#include "readers/run/frame_budget.h"
#include "readers/run/run_index.h"

namespace pymemrun {

// The change of RSS by a row's thread.
class RowDrss {
 public:
  virtual ~RowDrss() = default;
  // Since the thread's row before. REQUIRES: rows in their order.
  virtual int64_t Take(const Row& row) = 0;
  // During the call that the row ends.
  virtual int64_t OfCall(const Row& row) const = 0;
};

// What a writer needs of the file that a row is from.
struct RunView {
  const RunIndex* index = nullptr;
  uint32_t slot = 0;  // number of the file: 0, 1, ...
  uint32_t pid = 0;
  uint32_t page_bytes = 4096;
  // Rows are NEXT or PREV; false: all events were logged.
  bool with_context = false;
  uint64_t start_unix_us = 0;
  uint64_t own_bytes = 0;  // to be subtracted from every RSS

  uint64_t NetRss(uint64_t rss_bytes) const {
    return rss_bytes > own_bytes ? rss_bytes - own_bytes : 0;
  }
  // The first event's dRSS is its whole RSS if tracing started with the
  // program.
  int64_t NetDrss(const Row& row) const {
    const bool all_of_it =
        row.number == 0 && row.drss_bytes >= 0 &&
        static_cast<uint64_t>(row.drss_bytes) == row.rss_bytes;
    return all_of_it ? static_cast<int64_t>(NetRss(row.rss_bytes))
                     : row.drss_bytes;
  }

  RowDrss* thread_drss = nullptr;  // null: unknown

  // The budget for stacks. There are many rows, so each stack may take 16 KiB
  // in any case: some 200 frames.
  mutable FrameBudget stacks{FrameBudget::kBytes, 16 << 10};
};

// Not thread safe. The output must outlive the writer; its status has any
// failure.
class RowWriter {
 public:
  // How rows are printed. Not every format has every option.
  struct Options {
    std::vector<Column> columns;  // empty: the format's own
    bool with_header = true;
    bool raw_text = false;  // CSV: no ' before text that looks like a formula
    bool with_context = true;  // text: the NEXT:/PREV: prefix
    bool with_pid = false;     // text: several files
    ExtraRecords extra;        // also printed
  };

  virtual ~RowWriter() = default;
  // The header line. Called once, before the first row.
  virtual void WriteHeader() = 0;
  // `devent`: the event's number minus that of the last NEXT row.
  virtual void WriteRow(const RunView& run, const Row& row,
                        uint64_t devent) = 0;
  virtual void WriteMark(const RunView& run, const Mark& mark) = 0;
  // `what` is PAGE; the place is that of the stack's innermost frame.
  virtual void WritePage(const RunView& run, const PageEntry& entry) = 0;
  // `what` is ALLOC or FREE. An allocation has the place of its innermost
  // frame, and stands for `weight` allocations.
  virtual void WriteHeap(const RunView& run, const HeapEvent& event,
                         double weight) = 0;
  // `what` is GIL; the place is that of the recorded stack's innermost frame.
  virtual void WriteGil(const RunView& run, const GilEvent& event) = 0;
};

// The columns that readers of the older tracer know, in fixed widths; a longer
// value moves the rest of its line. When a second thread appears, a Thread
// column is added after Clock, and the header is printed again. A mark is a
// line of its own: "MARK:", the number of the event after it, its time, and the
// label in place of the file.
std::unique_ptr<RowWriter> NewTextWriter(const RowWriter::Options& options,
                                         OutputBuffer* output);
// RFC 4180; lines end with CR LF. A mark is a row with `what` MARK, its label
// as `function`, and the number of the event after it as `event`; its other
// cells are empty.
std::unique_ptr<RowWriter> NewCsvWriter(const RowWriter::Options& options,
                                        OutputBuffer* output);
// One JSON object a line. A mark is as in CSV, with null for empty cells.
std::unique_ptr<RowWriter> NewJsonlWriter(const RowWriter::Options& options,
                                          OutputBuffer* output);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_ROWS_ROW_WRITER_H_
