// Relations whose rows are those of a report: the report's table has the cells,
// and this file selects its columns.
#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "readers/across_runs/processes/process_table.h"
#include "readers/output/cells.h"
#include "readers/output/whole_number.h"
#include "readers/relations/run/run_relations.h"
#include "readers/replay/gil/gil_tables.h"
#include "readers/replay/states/state_tables.h"
#include "readers/replay/summary/run_summary.h"
#include "readers/replay/threads/thread_table.h"

namespace pymemrun {
namespace {

struct ReportSpec {
  const char *name, *about;
  // A column that the table lacks is empty.
  absl::Span<const RelationColumn> columns;
  absl::StatusOr<Table> (*read)(RelationRun* run);
  std::optional<Recorded> needed;  // nothing: each run has rows
  bool of_moment = false;
};

// Makes the report's table when rows are first asked for, and keeps it: reports
// read the whole run.
class ReportRelation final : public Relation {
 public:
  ReportRelation(const ReportSpec& spec, RelationRun* run)
      : spec_(spec), run_(run) {}
  const char* name() const override { return spec_.name; }
  const char* about() const override { return spec_.about; }
  absl::Span<const RelationColumn> columns() const override {
    return spec_.columns;
  }
  uint64_t expected_rows() override { return 100; }
  std::string Missing() override {
    return spec_.needed.has_value() ? run_->Lacks(*spec_.needed) : "";
  }
  bool of_moment() const override { return spec_.of_moment; }
  std::unique_ptr<RowCursor> Rows() override {
    if (!table_.has_value()) Read();
    return std::make_unique<Cursor>(*table_, at_);
  }

 private:
  class Cursor final : public RowCursor {
   public:
    Cursor(const absl::StatusOr<Table>& table, const std::vector<size_t>& at)
        : table_(table), at_(at) {}
    absl::StatusOr<bool> Next() override {
      if (!table_.ok()) return table_.status();
      return next_++ < table_->rows.size();
    }
    RelationValue At(int column) override {
      const std::vector<Cell>& row = table_->rows[next_ - 1];
      return at_[column] < row.size() ? ValueOf(row[at_[column]])
                                      : RelationValue();
    }

   private:
    const absl::StatusOr<Table>& table_;
    const std::vector<size_t>& at_;
    size_t next_ = 0;
  };

  // Columns are matched by name, so a report may have more of them, or another
  // order.
  void Read() {
    table_ = spec_.read(run_);
    if (!table_->ok()) return;
    const auto& headings = (*table_)->headings;
    for (const RelationColumn& column : spec_.columns) {
      at_.push_back(std::find_if(headings.begin(), headings.end(),
                                 [&column](const Table::Heading& heading) {
                                   return heading.name == column.name;
                                 }) -
                    headings.begin());
    }
  }

  const ReportSpec spec_;
  RelationRun* const run_;
  std::optional<absl::StatusOr<Table>> table_;  // nothing: not read yet
  std::vector<size_t> at_;  // by column of the relation: that of the table
};

// Each of these functions makes the table of one report, without limit and
// filter, in the form for machines.
template <GilRows rows>
absl::StatusOr<Table> ReadGil(RelationRun* run) {
  GilReplay replay;
  if (!run->file()->Read(&replay)) return RelationRun::NotRead();
  ThreadFilter all("", &replay.index());
  return GilTable(rows, replay, &all, 0, TableFormat::kCsv);
}

absl::StatusOr<Table> ReadStates(RelationRun* run) {
  StateReplay replay;
  if (!run->file()->Read(&replay)) return RelationRun::NotRead();
  ThreadFilter all("", &replay.index());
  return StateTable(replay, &all, 0, TableFormat::kCsv);
}

absl::StatusOr<Table> ReadThreads(RelationRun* run) {
  const absl::StatusOr<RunAt>& at = run->FindAt();
  if (!at.ok()) return at.status();
  ThreadReplay replay(at->moment.UntilUs(), at->hindsight);
  HeapMoments heap({at->moment.OfBlocks()});
  if (!run->file()->Read({&replay, &heap})) return RelationRun::NotRead();
  ThreadFilter all("", &replay.index());
  Table table =
      ThreadTable({&replay, heap.has_heap_events() ? &heap : nullptr}, &all, 0);
  table.rows.resize(table.places);  // without the row of no thread
  return table;
}

// The peak of live bytes; unknown if no allocations were recorded.
Cell LivePeakOf(RereadFile* file, const RunFacts& facts) {
  HeapMoments heap({HeapMoment{HeapMoment::kPeak}});
  if (!facts.HasHeap() || !file->Read(&heap)) return {};
  return WholeNumber(heap.model().peak_bytes());
}

// The row of `processes` for this file alone, with figures of `summary`.
absl::StatusOr<Table> ReadProcesses(RelationRun* run) {
  RereadFile* const file = run->file();
  const auto answer = ReadAnswer(file, /*with_curves=*/false);
  if (answer == nullptr) return RelationRun::NotRead();
  auto read = ReadProcess(file, *answer);
  if (!read.has_value()) return RelationRun::NotRead();
  const ProcessFamily family({*std::move(read)});
  const ProcessRun& process = family.members()[0].run;
  Table table = ProcessTable(family, family.Peak(), 0, 0, TableFormat::kCsv);
  const auto add = [&table](const std::string& name, Cell cell) {
    table.headings.push_back({name, name});
    table.rows[0].push_back(std::move(cell));
  };
  add("started_s", SecondsOfUs(process.begin_us));
  add("ended_s", SecondsOfUs(process.end_us));
  add("how_ended", process.end);  // END is a word of SQL
  add("live_peak_bytes", LivePeakOf(file, answer->facts));
  const RunPeak peak = {answer->peak.time_us, WholeNumber(answer->peak_bytes)};
  for (auto& [name, cell] : SummaryValues(answer->facts, "", 0, peak)) {
    add(name, std::move(cell));
  }
  return table;
}

constexpr RelationColumn kProcessColumns[] = {
    {"pid", kInteger, "its number"},
    {"parent_pid", kInteger, "number of the process that started it"},
    {"host", kText, "the machine"},
    {"command", kText, "the command that it ran"},
    {"python_version", kText, "version of the interpreter"},
    {"started", kText, "when tracing began: date and time, UTC"},
    {"started_s", kSeconds, "the same, since 1970"},
    {"ended_s", kSeconds, "the last moment of the file, since 1970"},
    {"duration_s", kSeconds, "time from start to end"},
    {"how_ended", kText, "exit 0, signal 9, killed, ..."},
    {"exit_status", kInteger, "status, if it exited"},
    {"signal", kInteger, "number of the signal that killed it"},
    {"peak_bytes", kBytes, "its highest RSS"},
    {"peak_rss_s", kSeconds, "when that was, since the run began"},
    {"pss_peak_bytes", kBytes, "its highest PSS, where that was read"},
    {"live_peak_bytes", kBytes, "the most that was alive at once"},
    {"growth_bytes", kBytes, "how much it grew, if it grew throughout the run"},
    {"top_line", kText, "your line that holds most at the peak"},
    {"growing_line", kText, "the line that grew most, where it grew"},
    {"untraced_children", kInteger,
     "processes that it started and that have no run file"}};

constexpr RelationColumn kGrowthColumns[] = {
    {"thread", kText, "name#id, its last name"},
    {"growth_bytes", kBytes, "in the whole run: pages that it added"},
    {"shrinkage_bytes", kBytes,
     "in the whole run: pages that its calls released"},
    {"net_bytes", kBytes, "in the whole run: growth less shrinkage"},
    {"peak_bytes", kBytes, "RSS at --at that it touched first"},
    {"peak_error_bytes", kBytes,
     "one standard error, where pages were sampled"},
    {"live_bytes", kBytes,
     "bytes that it allocated and that were alive at --at"},
    {"live_error_bytes", kBytes,
     "one standard error, where blocks were sampled"},
    {"first_s", kSeconds, "when it was first seen"},
    {"last_s", kSeconds, "when it was last seen, in the whole run"},
    {"rows", kInteger, "its logged events in the whole run"},
    {"top_line", kText, "your line that holds most at --at, or added most"}};

constexpr RelationColumn kGilThreadColumns[] = {
    {"thread", kText, "name#id, its last name"},
    {"total_s", kSeconds, "how long it is known"},
    {"held_s", kSeconds, "it held the GIL"},
    {"waiting_s", kSeconds, "it waited for the GIL, or a lock"},
    {"stopped_s", kSeconds, "it was stopped, without a GIL"},
    {"without_s", kSeconds, "it ran or slept without the GIL"},
    {"takes", kInteger, "how often it took the GIL"},
    {"waits", kInteger, "how often it waited"},
    {"longest_wait_s", kSeconds, "its longest wait"},
    {"longest_wait_for", kText, "the thread that it waited for then"}};

constexpr RelationColumn kGilBlockerColumns[] = {
    {"waiter", kText, "the thread that waited"},
    {"holder", kText,
     "the thread that held the GIL, or a lock, during the wait"},
    {"waiting_s", kSeconds, "all such waits"}};

constexpr RelationColumn kGilWaitColumns[] = {
    {"waiter", kText, "the thread that waited"},
    {"at_s", kSeconds, "when the wait began, since the run began"},
    {"wait_s", kSeconds, "how long it waited"},
    {"holder", kText,
     "the thread that held the GIL, or a lock, during the wait"},
    {"waiter_line", kText, "your line that waited"},
    {"holder_line", kText, "your line that held it"},
    {"holder_calls", kText, "the function that the holder's line called"},
    {"waiter_stack", kText, "all frames, the innermost last"},
    {"holder_stack", kText, "likewise"}};

constexpr RelationColumn kGilPlaceColumns[] = {
    {"file", kText, "file of your line"},
    {"line", kInteger, "your line"},
    {"function", kText, "function of your line"},
    {"calls", kText, "the function that the line called during the waits"},
    {"blocked_s", kSeconds, "sum of the waits of all other threads"}};

constexpr RelationColumn kStateColumns[] = {
    {"thread", kText, "name#id, its last name"},
    {"total_s", kSeconds, "how long it is known"},
    {"running_gil_s", kSeconds, "on a processor with the GIL"},
    {"running_s", kSeconds, "on a processor without it"},
    {"runnable_s", kSeconds, "waiting for a processor"},
    {"gil_s", kSeconds, "sleeping for the GIL"},
    {"lock_s", kSeconds, "sleeping for a lock"},
    {"io_s", kSeconds, "sleeping for I/O"},
    {"sleep_s", kSeconds, "sleeping a set time"},
    {"page_fault_s", kSeconds, "sleeping for a page"},
    {"other_s", kSeconds, "sleeping otherwise"},
    {"preempted", kInteger, "how often another thread got its processor"},
    {"voluntary", kInteger, "how often it gave up its processor"}};

const ReportSpec kReports[] = {
    {"processes", "a process: a run file each", kProcessColumns, ReadProcesses,
     std::nullopt},
    {"thread_memory",
     "a thread, and its memory at the peak or at --at, as in pymemreport "
     "threads",
     kGrowthColumns, ReadThreads, std::nullopt, /*of_moment=*/true},
    {"gil_threads", "a thread, and its time with and without the GIL",
     kGilThreadColumns, ReadGil<GilRows::kThreads>, Recorded::kGil},
    {"gil_blockers", "who waited for the GIL, or a lock, and for whom",
     kGilBlockerColumns, ReadGil<GilRows::kBlockers>, Recorded::kGil},
    {"gil_waits", "one of the longest waits", kGilWaitColumns,
     ReadGil<GilRows::kWaits>, Recorded::kGil},
    {"gil_places", "a line that held the GIL, or a lock, while others waited",
     kGilPlaceColumns, ReadGil<GilRows::kPlaces>, Recorded::kGil},
    {"state_sums", "a thread, and its time in each state", kStateColumns,
     ReadStates, Recorded::kStates}};

}  // namespace

void AddReportTables(RelationRun* run, Relations* relations) {
  for (const ReportSpec& spec : kReports) {
    relations->push_back(std::make_unique<ReportRelation>(spec, run));
  }
}

}  // namespace pymemrun
