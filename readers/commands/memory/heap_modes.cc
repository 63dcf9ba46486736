#include "readers/commands/memory/heap_modes.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "readers/across_runs/diff/run_diff.h"
#include "readers/replay/heap/heap_reading.h"
#include "readers/replay/heap_in_rss/heap_mapped.h"
#include "readers/replay/moments/moment_reading.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

// What is to be a table.
struct Shown {
  Shown(GroupBy by, bool of_reserved) : rows(by, of_reserved) {}

  std::string heading;
  HeapTableOptions table;
  HeapRowsMaker rows;
  std::unique_ptr<HeapMoments> other_run;
  std::optional<HeapRows> diff;  // with that, instead of the rows
};

// Blocks alive and, beside them, what is resident of mappings.
void ShowBlocks(const HeapMoments& replay, RereadFile* file,
                const HeapRowsMaker::Keep& keep, Shown* shown) {
  const auto resident = ReadMappedResident(replay, file);
  shown->heading += MappedText(replay, resident);
  shown->rows.Add(replay, replay.SumsAt(0), /*before=*/false, keep);
  if (resident.has_value()) shown->rows.AddMapped(replay, *resident, keep);
}

void ShowLive(const HeapMoments& replay, RereadFile* file,
              ThreadFilter* threads, Shown* shown) {
  shown->heading = LiveText(replay, 0) + ThreadText(replay, threads) +
                   PeakText(replay) + MeaningText(replay) + RestText(replay);
  shown->rows.KeepThreads(threads);
  ShowBlocks(replay, file, nullptr, shown);
}

void ShowReserved(const HeapMoments& replay, RereadFile* file, Shown* shown) {
  shown->heading =
      absl::StrCat("mapped by C code at ", MomentText(replay, 0), "\n");
  shown->table.name = "reserved";
  ShowBlocks(replay, file, nullptr, shown);
}

void ShowLeaks(const HeapMoments& replay, RereadFile* file, Shown* shown) {
  InterpreterStacks interpreter(&replay.index());
  const auto keep = LeaksOnly(&interpreter);
  shown->heading = LeaksText(replay, keep);
  ShowBlocks(replay, file, keep, shown);
}

// Not what is alive: sources have counted their short-lived blocks during the
// replay.
void ShowTemporary(uint32_t limit, const HeapMoments& replay, Shown* shown) {
  std::vector<HeapSums> sums;
  for (const HeapSource& source : replay.model().sources()) {
    sums.push_back(source.temporary);
  }
  shown->heading = absl::StrCat(
      "temporary ", HeapSumsText(TotalsOf(replay.model(), sums).live, replay),
      ", freed before ", Counted(limit, "further allocation"),
      " of the same thread\n");
  shown->table.name = "temporary";
  shown->table.with_mapped = false;
  shown->rows.Add(replay, sums);
}

// Moments by name are known only now, so their order is checked here.
bool ShowChange(const HeapMoments& replay, RunReading* run, Shown* shown) {
  if (replay.TimeOf(1) < replay.TimeOf(0)) {
    run->Say(absl::StrCat("--to: expected a moment not before --at, ",
                          MomentText(replay, 0), ", found ",
                          MomentText(replay, 1)));
    return run->Fail(kExitUsage);
  }
  shown->heading = absl::StrCat("before: ", LiveText(replay, 0),
                                "after: ", LiveText(replay, 1));
  shown->table.is_change = true;
  shown->table.name = "change";
  shown->rows.Add(replay, replay.SumsAt(0), /*before=*/true);
  shown->rows.Add(replay, replay.SumsAt(1));
  return true;
}

// The other run has its own rates and its own losses: the table states the
// larger doubt of both.
bool ShowDiff(const HeapAsked& asked, const HeapMoments& first, RunReading* run,
              Shown* shown) {
  int code = kExitOk;
  shown->other_run =
      ReadHeapAt(asked.compared, asked.at, run->console(), &code);
  run->Fail(code);
  if (shown->other_run == nullptr) return false;
  const HeapMoments& second = *shown->other_run;
  shown->heading =
      absl::StrCat("before: ", LiveText(first, 0), HeapHeading(first),
                   "after: ", LiveText(second, 0), HeapHeading(second));
  shown->table.is_change = true;
  shown->table.name = "change";
  shown->table.with_errors |= second.sampled();
  shown->table.with_mapped |= second.header().heap_native();
  shown->table.unseen.TakeMost(second.unseen());
  shown->diff = DiffHeapRows(asked.by, first, second);
  return true;
}

// False: why not has been said.
bool Show(const HeapAsked& asked, const HeapMoments& replay,
          ThreadFilter* threads, RunReading* run, Shown* shown) {
  switch (asked.mode) {
    case HeapReportMode::kLive:
      ShowLive(replay, run->file(), threads, shown);
      break;
    case HeapReportMode::kReserved:
      ShowReserved(replay, run->file(), shown);
      break;
    case HeapReportMode::kLeaks:
      ShowLeaks(replay, run->file(), shown);
      break;
    case HeapReportMode::kTemporary:
      ShowTemporary(asked.temporary, replay, shown);
      break;
    case HeapReportMode::kChange:
      return ShowChange(replay, run, shown);
    case HeapReportMode::kDiff:
      return ShowDiff(asked, replay, run, shown);
  }
  return true;
}

}  // namespace

// Leaks are sought before finalization frees memory; short-lived blocks are
// counted up to the very end.
std::vector<Moment> MomentsOf(const HeapAsked& asked, RereadFile* file) {
  switch (asked.mode) {
    case HeapReportMode::kLeaks:
      return {Moment{Moment::kEnd}};
    case HeapReportMode::kTemporary:
      return {Moment{Moment::kExit}};
    case HeapReportMode::kChange:
      return {asked.at, NoLaterThanEnd(*asked.to, file)};
    default:
      return {asked.at};
  }
}

HeapRowsMaker::Keep LeaksOnly(InterpreterStacks* interpreter) {
  return [interpreter](const HeapSource& source) {
    return !source.tracing && !interpreter->Contains(source.key.stack);
  };
}

// Options of the table begin as this run's; a mode changes what is different.
std::optional<HeapShown> ShowHeap(const HeapAsked& asked,
                                  const HeapMoments& replay,
                                  ThreadFilter* threads, uint64_t limit,
                                  bool for_text, RunReading* run) {
  Shown shown(asked.by, asked.mode == HeapReportMode::kReserved);
  shown.table.by = asked.by;
  shown.table.limit = limit;
  shown.table.with_errors = replay.sampled();
  shown.table.with_mapped = replay.header().heap_native();
  shown.table.unseen = replay.unseen();
  shown.table.for_text = for_text;
  if (!Show(asked, replay, threads, run, &shown)) return std::nullopt;
  if (asked.mode != HeapReportMode::kDiff) shown.heading += HeapHeading(replay);
  return HeapShown{
      std::move(shown.heading),
      HeapTable(shown.table, shown.diff.has_value() ? *std::move(shown.diff)
                                                    : shown.rows.Take())};
}

}  // namespace pymemrun
