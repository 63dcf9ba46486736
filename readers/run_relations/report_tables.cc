// Relations whose rows are those of a report: its table makes the cells, here
// stands which of its columns they have.
#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "readers/gil/gil_tables.h"
#include "readers/moments/moment_reading.h"
#include "readers/run_relations/run_relations.h"
#include "readers/states/state_tables.h"
#include "readers/threads/thread_table.h"

namespace pymemrun {
namespace {

struct ReportSpec {
  const char *name, *about;
  // A column that the table lacks is empty.
  absl::Span<const RelationColumn> columns;
  absl::StatusOr<Table> (*read)(const RelationRun& run);
  Recorded needed;
};

class ReportRelation final : public Relation {
 public:
  ReportRelation(const ReportSpec& spec, const RelationRun* run)
      : spec_(spec), run_(run) {}
  const char* name() const override { return spec_.name; }
  const char* about() const override { return spec_.about; }
  absl::Span<const RelationColumn> columns() const override {
    return spec_.columns;
  }
  uint64_t expected_rows() override { return 100; }
  std::string Missing() override { return run_->Lacks(spec_.needed); }
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

  void Read() {
    table_ = spec_.read(*run_);
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
  const RelationRun* const run_;
  std::optional<absl::StatusOr<Table>> table_;  // nothing: not read yet
  std::vector<size_t> at_;  // by column of the relation: that of the table
};

absl::Status NotRead() {
  return absl::FailedPreconditionError("the run could not be read again");
}

template <GilRows rows>
absl::StatusOr<Table> ReadGil(const RelationRun& run) {
  GilReplay replay;
  if (!run.file()->Read(&replay)) return NotRead();
  ThreadFilter all("", &replay.index());
  return GilTable(rows, replay, &all, 0, TableFormat::kCsv);
}

absl::StatusOr<Table> ReadStates(const RelationRun& run) {
  StateReplay replay;
  if (!run.file()->Read(&replay)) return NotRead();
  ThreadFilter all("", &replay.index());
  return StateTable(replay, &all, 0, TableFormat::kCsv);
}

absl::StatusOr<Table> ReadThreads(const RelationRun& run) {
  const auto moments = RunMoments::Of(ReadingOf(run.file()));
  if (moments == nullptr) return NotRead();
  const FoundMoment peak = moments->RssPeak();
  ThreadReplay replay(peak.time_us, moments->hindsight());
  HeapMoments heap({peak.OfBlocks()});
  if (!run.file()->Read({&replay, &heap})) return NotRead();
  ThreadFilter all("", &replay.index());
  Table table =
      ThreadTable({&replay, heap.has_heap_events() ? &heap : nullptr}, &all, 0);
  table.rows.resize(table.places);  // what no thread did is no row
  return table;
}

constexpr RelationColumn kGrowthColumns[] = {
    {"thread", kText, "name#id, its last name"},
    {"growth_bytes", kBytes, "pages that it brought"},
    {"shrinkage_bytes", kBytes, "pages that its calls gave back"},
    {"net_bytes", kBytes, "growth less shrinkage"},
    {"peak_bytes", kBytes, "of RSS at its peak, what it touched first"},
    {"peak_error_bytes", kBytes,
     "one standard error, where pages were sampled"},
    {"live_bytes", kBytes, "what it allocated and was alive at the peak"},
    {"live_error_bytes", kBytes,
     "one standard error, where blocks were sampled"},
    {"first_s", kSeconds, "when it was first seen"},
    {"last_s", kSeconds, "when it was last seen"},
    {"rows", kInteger, "its logged events"},
    {"top_line", kText, "your line that holds, or brought, most"}};

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
    {"holder", kText, "the thread that held the GIL, or a lock, meanwhile"},
    {"waiting_s", kSeconds, "all such waits"}};

constexpr RelationColumn kGilWaitColumns[] = {
    {"waiter", kText, "the thread that waited"},
    {"at_s", kSeconds, "when the wait began, since the run began"},
    {"wait_s", kSeconds, "how long it waited"},
    {"holder", kText, "the thread that held the GIL, or a lock, meanwhile"},
    {"waiter_line", kText, "your line that waited"},
    {"holder_line", kText, "your line that held it"},
    {"holder_calls", kText, "the function that the holder's line called"},
    {"waiter_stack", kText, "all frames, the innermost last"},
    {"holder_stack", kText, "likewise"}};

constexpr RelationColumn kGilPlaceColumns[] = {
    {"file", kText, "of your line"},
    {"line", kInteger, "your line"},
    {"function", kText, "of your line"},
    {"calls", kText, "the function that the line called meanwhile"},
    {"blocked_s", kSeconds, "what other threads waited, of all threads"}};

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
    {"voluntary", kInteger, "how often it left its processor by itself"}};

const ReportSpec kReports[] = {
    {"thread_memory", "a thread, and its memory: as threads has it",
     kGrowthColumns, ReadThreads, Recorded::kThreadMemory},
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

void AddReportTables(const RelationRun* run, Relations* relations) {
  for (const ReportSpec& spec : kReports) {
    relations->push_back(std::make_unique<ReportRelation>(spec, run));
  }
}

}  // namespace pymemrun
