#include "readers/heap_report.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "format/report_text.h"
#include "format/terminal_text.h"
#include "readers/heap_exit.h"
#include "readers/heap_mapped.h"
#include "readers/heap_stacks.h"
#include "readers/heap_table.h"

namespace pymemrun {
namespace {

std::string MomentText(const HeapMoments& replay, size_t moment) {
  std::string text = HumanSeconds(replay.TimeOf(moment));
  if (replay.moment(moment).kind == HeapMoment::kPeak) text += " (peak)";
  return text;
}

// "live 1.2 GiB in 3,456 blocks at 12.300 s (peak)".
std::string LiveText(const HeapMoments& replay, size_t moment) {
  const HeapSums live = SumUp(replay.model(), replay.SumsAt(moment));
  return absl::StrCat("live ", HeapSumsText(live, replay), " at ",
                      MomentText(replay, moment), "\n");
}

// Where everything was read the peak is known.
std::string PeakText(const HeapMoments& replay) {
  if (replay.moment(0).kind != HeapMoment::kEnd) return "";
  return absl::StrCat("peak ", HumanBytes(replay.model().peak_bytes()), " at ",
                      HumanSeconds(replay.model().peak_us()), "\n");
}

// Where RSS is far above what heap events tell of, and C code's own memory was
// not asked for: how to see it.
std::string RestText(const HeapMoments& replay) {
  constexpr double kMuch = 64 << 20;
  if (replay.header().heap_native()) return "";
  const auto rss = static_cast<double>(replay.RssNear(replay.TimeOf(0)));
  const std::vector<HeapSums> sums = replay.SumsAt(0);
  const double known = SumUp(replay.model(), sums).bytes +
                       SumUpTracing(replay.model(), sums).bytes +
                       static_cast<double>(replay.header().own_bytes());
  const double rest = rss - known;
  if (rest <= kMuch || rest <= rss / 2) return "";
  return absl::StrCat(
      "RSS was ", HumanBytes(rss), ", ", HumanBytes(rest),
      " beyond these: pymemrun --native records C code's own "
      "memory, pymemreport timeline --by heap shows the rest\n");
}

HeapRowsMaker::Keep LeaksOnly(InterpreterStacks* interpreter) {
  return [interpreter](const HeapSource& source) {
    return !source.tracing && !interpreter->Contains(source.key.stack);
  };
}

std::vector<HeapSums> TemporarySums(const HeapModel& model) {
  std::vector<HeapSums> sums;
  for (const HeapSource& source : model.sources()) {
    sums.push_back(source.temporary);
  }
  return sums;
}

// What heading and table show of a file's blocks.
struct Shown {
  std::string heading;
  HeapTableOptions table;
  HeapRowsMaker rows;
};

// Blocks alive and, beside them, what is resident of mappings.
void ShowBlocks(const HeapMoments& replay, RereadFile* file,
                const HeapRowsMaker::Keep& keep, Shown* shown) {
  const auto resident = ReadMappedResident(replay, file);
  shown->heading += MappedText(replay, resident);
  shown->rows.Add(replay, replay.SumsAt(0), /*before=*/false, keep);
  if (resident.has_value()) shown->rows.AddMapped(replay, *resident, keep);
}

void ShowLive(const HeapMoments& replay, RereadFile* file, Shown* shown) {
  shown->heading = LiveText(replay, 0) + PeakText(replay) + RestText(replay);
  ShowBlocks(replay, file, nullptr, shown);
}

// "mapped by C code at 12.300 s (peak of live bytes)".
std::string ReservedMomentText(const HeapMoments& replay) {
  return absl::StrCat(
      "mapped by C code at ", HumanSeconds(replay.TimeOf(0)),
      replay.moment(0).kind == HeapMoment::kPeak ? " (peak of live bytes)" : "",
      "\n");
}

// What C code has mapped, whether or not it was touched.
void ShowReserved(const HeapMoments& replay, RereadFile* file, Shown* shown) {
  shown->heading = ReservedMomentText(replay);
  shown->table.name = "reserved";
  ShowBlocks(replay, file, nullptr, shown);
}

// What --leaks begins with, of what passes `keep`.
std::string LeaksText(const HeapMoments& replay,
                      const HeapRowsMaker::Keep& keep) {
  const std::vector<HeapSums> sums = replay.SumsAt(0);
  HeapSums leaked;
  for (size_t i = 0; i < sums.size(); ++i) {
    const HeapSource& source = replay.model().sources()[i];
    if (source.counts() && keep(source)) leaked.Add(sums[i]);
  }
  return absl::StrCat("alive when the program ended ",
                      HeapSumsText(leaked, replay),
                      ", without what the interpreter keeps for itself\n",
                      LiveText(replay, 0), PeakText(replay));
}

void ShowLeaks(const HeapMoments& replay, RereadFile* file, Shown* shown) {
  InterpreterStacks interpreter(&replay.index());
  const auto keep = LeaksOnly(&interpreter);
  shown->heading = LeaksText(replay, keep);
  ShowBlocks(replay, file, keep, shown);
}

void ShowTemporary(uint32_t limit, const HeapMoments& replay, Shown* shown) {
  const std::vector<HeapSums> sums = TemporarySums(replay.model());
  shown->heading = absl::StrCat(
      "temporary ", HeapSumsText(SumUp(replay.model(), sums), replay),
      ", freed before ", Counted(limit, "further allocation"),
      " of the same thread\n");
  shown->table.name = "temporary";
  shown->table.with_mapped = false;
  shown->rows.Add(replay, sums);
}

void ShowChange(const HeapMoments& replay, Shown* shown) {
  shown->heading = absl::StrCat("before: ", LiveText(replay, 0),
                                "after: ", LiveText(replay, 1));
  shown->table.is_change = true;
  shown->table.name = "change";
  shown->rows.Add(replay, replay.SumsAt(0), /*before=*/true);
  shown->rows.Add(replay, replay.SumsAt(1));
}

void ShowDiff(const HeapMoments& first, const HeapMoments& second,
              Shown* shown) {
  shown->heading =
      absl::StrCat("before: ", LiveText(first, 0), HeapHeading(first),
                   "after: ", LiveText(second, 0), HeapHeading(second));
  shown->table.is_change = true;
  shown->table.name = "change";
  shown->table.with_errors |= second.sampled();
  shown->table.unseen.TakeMost(second.unseen());
  shown->rows.Add(first, first.SumsAt(0), /*before=*/true);
  shown->rows.Add(second, second.SumsAt(0));
}

// Whether not every allocation was recorded, so that none can be said to have
// been the next; says so.
bool SayNotTemporary(const HeapReplay& replay, const std::string& path,
                     const Console& console) {
  if (!replay.sampled()) return false;
  console.Say(absl::StrCat(
      TerminalText(path),
      ": --temporary needs every allocation: the run was not made with "
      "--heap all"));
  return true;
}

// Whether nothing of C code was recorded; says so.
bool SayNothingReserved(const HeapReplay& replay, const std::string& path,
                        const Console& console) {
  if (replay.header().heap_native()) return false;
  console.Say(absl::StrCat(TerminalText(path),
                           ": --reserved needs a run with --native"));
  return true;
}

// When the program ended, for --leaks: as ReadHeapAgain().
bool FindExit(RereadFile* file, const Console& console, HeapMoment* moment,
              int* code) {
  HeapExitFinder finder;
  if (!ReadHeapAgain(file, console, &finder, code)) return false;
  *moment = finder.exit();
  return true;
}

void SayBeyondEnd(const HeapReplay& replay, const std::string& shown_name,
                  const Console& console) {
  if (replay.BeyondEndUs() == 0) return;
  console.Say(absl::StrCat(shown_name, ": ", HumanSeconds(replay.BeyondEndUs()),
                           " is after the run's end, ",
                           HumanSeconds(replay.last_us()),
                           ": the end is shown"));
}

int PrintTables(const ReportOptions& options, const HeapMoments& replay,
                RereadFile* file, const Console& console,
                OutputBuffer* output) {
  const HeapOptions& heap = options.heap;
  Shown shown = {"", {}, HeapRowsMaker(heap.by, heap.reserved)};
  shown.table.by = heap.by;
  shown.table.limit = options.limit;
  shown.table.with_errors = replay.sampled();
  shown.table.with_mapped = replay.header().heap_native();
  shown.table.unseen = replay.unseen();
  shown.table.for_text = options.format == TableFormat::kText;
  int code = kExitOk;
  HeapMoments second(heap.moments);
  if (heap.diff) {
    if (!ReadHeap(options.files[1], console, &second, &code)) return code;
    shown.table.with_mapped |= second.header().heap_native();
    ShowDiff(replay, second, &shown);
  } else if (heap.moments.size() > 1) {
    ShowChange(replay, &shown);
  } else if (heap.temporary != 0) {
    ShowTemporary(heap.temporary, replay, &shown);
  } else if (heap.leaks) {
    ShowLeaks(replay, file, &shown);
  } else if (heap.reserved) {
    ShowReserved(replay, file, &shown);
  } else {
    ShowLive(replay, file, &shown);
  }
  if (options.format == TableFormat::kText) {
    output->Append(shown.heading + (heap.diff ? "" : HeapHeading(replay)));
  }
  PrintTable(HeapTable(shown.table, shown.rows.Take()), options.format, output);
  return code;
}

void PrintStacks(const ReportOptions& options, const HeapMoments& replay,
                 OutputBuffer* output) {
  InterpreterStacks interpreter(&replay.index());
  const HeapRowsMaker::Keep keep =
      options.heap.leaks ? LeaksOnly(&interpreter) : nullptr;
  if (options.format == TableFormat::kText && !options.collapsed) {
    output->Append((options.heap.leaks
                        ? LeaksText(replay, keep)
                        : LiveText(replay, 0) + RestText(replay)) +
                   ReservedText(replay) + HeapHeading(replay));
  }
  HeapStacks stacks(options.heap.by, &replay);
  stacks.Add(replay.SumsAt(0), keep);
  stacks.Print(options, output);
}

}  // namespace

bool ReadHeapAgain(RereadFile* file, const Console& console, HeapReplay* replay,
                   int* code, bool say_beyond_end) {
  const bool read = file->Read(replay);
  *code = std::max(*code, file->code());
  if (!read) *code = std::max(*code, kExitFailed);
  if (!read) return false;
  if (replay->has_heap_events()) {
    if (say_beyond_end) SayBeyondEnd(*replay, file->shown_name(), console);
    return true;
  }
  console.Say(absl::StrCat(
      file->shown_name(),
      file->whole()
          ? ": has no heap events: the run was made with --heap off or stats"
          : ": no heap events in what could be read"));
  if (file->whole()) *code = kExitUsage;
  return false;
}

bool ReadHeap(const std::string& path, const Console& console,
              HeapReplay* replay, int* code) {
  const auto file = RereadFile::Open(path, console);
  if (file != nullptr) return ReadHeapAgain(file.get(), console, replay, code);
  *code = std::max(*code, kExitFailed);
  return false;
}

int PrintHeap(const ReportOptions& options, const Console& console,
              OutputBuffer* output) {
  const HeapOptions& heap = options.heap;
  int code = kExitOk;
  const auto file = RereadFile::Open(options.files[0], console);
  if (file == nullptr) return kExitFailed;
  std::vector<HeapMoment> moments = heap.moments;
  if (heap.leaks && !FindExit(file.get(), console, &moments[0], &code)) {
    return code;
  }
  HeapMoments replay(moments);
  replay.CountTemporary(heap.temporary);
  if (!ReadHeapAgain(file.get(), console, &replay, &code)) return code;
  if (heap.temporary != 0 &&
      SayNotTemporary(replay, options.files[0], console)) {
    return kExitUsage;
  }
  if (heap.reserved && SayNothingReserved(replay, options.files[0], console)) {
    return kExitUsage;
  }
  if (!options.stacks && !options.collapsed) {
    return std::max(code,
                    PrintTables(options, replay, file.get(), console, output));
  }
  PrintStacks(options, replay, output);
  return code;
}

int PrintSnapshot(const ReportOptions& options, const Console& console,
                  OutputBuffer* output) {
  HeapMoments replay(options.heap.moments);
  int code = kExitOk;
  if (!ReadHeap(options.files[0], console, &replay, &code)) return code;
  if (options.format == TableFormat::kJson) {
    PrintSnapshotJson(replay, options.limit, output);
    return code;
  }
  if (options.format == TableFormat::kText && !options.collapsed) {
    output->Append(LiveText(replay, 0) + ReservedText(replay) +
                   HeapHeading(replay));
  }
  HeapStacks stacks(options.heap.by, &replay);
  stacks.Add(replay.SumsAt(0), nullptr);
  stacks.Print(options, output);
  return code;
}

}  // namespace pymemrun
