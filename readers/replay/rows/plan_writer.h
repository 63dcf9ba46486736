// The engine of all row writers: runs the steps of row_plan.h. A Style formats
// the cells.
#ifndef PYMEMRUN_READERS_REPLAY_ROWS_PLAN_WRITER_H_
#define PYMEMRUN_READERS_REPLAY_ROWS_PLAN_WRITER_H_

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/replay/rows/number_cells.h"
#include "readers/replay/rows/row_plan.h"
#include "readers/replay/rows/side_cells.h"
#include "text/number_format.h"

namespace pymemrun {

template <typename Style>
// Not thread safe. The output must outlive it.
class PlanWriter final : public RowWriter {
 public:
  // `adds_thread`: adds kThread after kClock when a second thread appears.
  PlanWriter(Style style, std::vector<Column> columns, bool with_header,
             bool adds_thread, OutputBuffer* output)
      : style_(std::move(style)),
        columns_(std::move(columns)),
        with_header_(with_header),
        adds_thread_(adds_thread),
        output_(output),
        steps_(MakeRowPlan(style_, columns_)) {}

  void WriteHeader() override {
    if (with_header_) style_.Header(columns_, output_);
  }

  void WriteRow(const RunView& run, const Row& row, uint64_t devent) override {
    NoteThread(run.slot, row.thread);
    output_->Append(Style::kRowStart);
    for (RowStep& step : steps_) {
      switch (step.kind) {
        case RowStep::kSite:
          WriteCached(RenderSite<Style>, run, row.site, &step);
          break;
        case RowStep::kThread:
          WriteCached(RenderThread<Style>, run, row.thread, &step);
          break;
        case RowStep::kStack:  // text is short once the budget is used up
          if (!run.stacks.TakeAgain(
                  WriteCached(RenderStack<Style>, run, row.stack, &step))) {
            step.cache.Clear();
          }
          break;
        case RowStep::kNumber:
          AppendNumber(style_, step, run, row, devent, output_);
          break;
        case RowStep::kThreadDrss:
          AppendThreadDrss(style_, step, run, row, output_);
          break;
        case RowStep::kCall:
          AppendCall(style_, step, run, row, output_);
          break;
        case RowStep::kEmpty:
          output_->Append(step.before);
          break;
      }
    }
    output_->Append(Style::kRowEnd);
  }

  // Marks and events are few compared with rows: their lines are made without
  // steps.
  void WriteMark(const RunView& run, const Mark& mark) override {
    WriteLine([&](Column column, std::string* line) {
      AppendMarkCell(style_, column, run, mark, line);
    });
  }

  void WritePage(const RunView& run, const PageEntry& entry) override {
    WriteAtStack(run, entry, AppendPageCell<Style>);
  }
  void WriteHeap(const RunView& run, const HeapEvent& event,
                 double weight) override {
    WriteAtStack(run, event, [weight](const auto&... cell) {
      AppendHeapCell(weight, cell...);
    });
  }
  void WriteGil(const RunView& run, const GilEvent& event) override {
    WriteAtStack(run, event, AppendGilCell<Style>);
  }

 private:
  // Writes a line for an event of a thread. `append`: see AppendGilCell().
  template <typename Event, typename Append>
  void WriteAtStack(const RunView& run, const Event& event, Append append) {
    NoteThread(run.slot, event.thread);
    const SourceLocation place = run.index->ResolveStack(event.stack);
    WriteLine([&](Column column, std::string* line) {
      append(style_, column, run, event, place, line);
    });
  }

  // Separators are those of a row, so that columns align.
  // Writes a line that is not a row; `cell` appends each cell.
  template <typename Cell>
  void WriteLine(Cell cell) {
    std::string line(Style::kRowStart);
    const Column* previous = nullptr;
    for (const Column& column : columns_) {
      style_.Before(column, previous, &line);
      cell(column, &line);
      previous = &column;
    }
    absl::StrAppend(&line, Style::kRowEnd);
    output_->Append(line);
  }

  // Writes the text of a step, rendered once for each id. Returns its number of
  // bytes.
  template <typename Render>
  size_t WriteCached(Render render, const RunView& run, uint32_t id,
                     RowStep* step) {
    const auto text = step->cache.Get(run.slot, id, [&](std::string* out) {
      render(style_, *step, run, id, out);
    });
    output_->Append(text);
    return text.size();
  }

  // Adds the Thread column when a file has its second thread, and prints the
  // header again. Later rows have the column.
  void NoteThread(uint32_t slot, uint32_t thread) {
    if (!adds_thread_) return;
    if (slot >= first_threads_.size()) first_threads_.resize(slot + 1, 0);
    if (first_threads_[slot] == 0) first_threads_[slot] = thread;
    if (first_threads_[slot] == thread) return;
    adds_thread_ = false;  // the column is there from now on
    const auto at = std::find(columns_.begin(), columns_.end(), Column::kClock);
    columns_.insert(at == columns_.end() ? at : at + 1, Column::kThread);
    steps_ = MakeRowPlan(style_, columns_);
    WriteHeader();
  }

  const Style style_;
  std::vector<Column> columns_;
  const bool with_header_;
  bool adds_thread_;
  OutputBuffer* const output_;
  // Made anew when a column is added.
  std::vector<RowStep> steps_;
  std::vector<uint32_t> first_threads_;  // by slot; 0: none yet
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_ROWS_PLAN_WRITER_H_
