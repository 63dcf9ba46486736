#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "readers/gil/gil_replay.h"
#include "readers/gil/gil_tables.h"
#include "readers/gil/gil_text.h"
#include "readers/options/help_text.h"
#include "readers/options/option_values.h"
#include "readers/report/range_options.h"
#include "readers/report/report_command.h"
#include "readers/run/reread_file.h"

namespace pymemrun {
namespace {

constexpr size_t kWaitsInText = 3;
constexpr size_t kStackIndent = 8;
constexpr uint64_t kPlacesInText = 5;

class GilCommand final : public ReportCommand {
 public:
  GilCommand()
      : ReportCommand(
            "gil", "who holds the GIL, who waits for it",
            "Says how long each thread held the global interpreter lock (GIL), "
            "waited for it and ran or slept without it; who waited for whom; "
            "and at which lines. It needs GIL events.\n\nTime "
            "without the GIL is good: the thread keeps no other from running. "
            "Time that it holds the GIL is bad only if others wait meanwhile. "
            "Lines are known of long waits, of 1 ms or more by default.") {}

  void AddOptions(CLI::App* app) override {
    files_.AddOne(app);
    table_.Add(app, 20, ": a row for each thread, or see --rows");
    AddChoice(app, "--rows", &rows_,
              Choices<std::optional<GilRows>>{{"threads", GilRows::kThreads},
                                              {"blockers", GilRows::kBlockers},
                                              {"waits", GilRows::kWaits},
                                              {"places", GilRows::kPlaces},
                                              {"gils", GilRows::kGils},
                                              {"stops", GilRows::kStops}},
              "WHAT",
              "Print the table of WHAT alone: threads (CSV, JSON); blockers, "
              "who waited for whom; waits, the longest with both stacks; "
              "places, the lines that held the GIL meanwhile; gils, each "
              "interpreter's own; or stops, where all threads were stopped.");
    AddThread(app, &thread_);
    range_.Add(app);
    AddOwn(app);
    files_.AddOutput(app);
    SetUsualOptions(app,
                    {"--rows", "--thread", "--limit", "--csv", "--output"});
  }
  std::string Problem() const override { return table_.Problem(); }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  void PrintAll(const GilReplay& replay, ThreadFilter* keep,
                OutputBuffer* output) const;

  TableOptions table_;
  std::optional<GilRows> rows_;
  std::string thread_;
  RangeOptions range_;
};

// Of two stacks a table would leave nothing to read.
void PrintWaits(const GilReplay& replay, ThreadFilter* keep, size_t limit,
                OutputBuffer* output) {
  const std::string text = GilWaitsText(replay, keep, limit);
  output->Append(output->terminal().Wrapped(
      text.empty() ? "No thread waited for long.\n" : text, kStackIndent));
}

void PrintRows(GilRows rows, const GilReplay& replay, ThreadFilter* keep,
               uint64_t limit, TableFormat format, OutputBuffer* output) {
  Table table = GilTable(rows, replay, keep, limit, format);
  if (format == TableFormat::kText && table.rows.empty()) {
    return output->AppendLines("None.\n");
  }
  if (format == TableFormat::kText) DropEmptyColumns(&table);
  PrintTable(table, format, output);
}

// Each part has something to say, or is left out.
void GilCommand::PrintAll(const GilReplay& replay, ThreadFilter* keep,
                          OutputBuffer* output) const {
  // Who holds the GIL matters to all who wait.
  ThreadFilter all("", &replay.index());
  const bool narrowed = !thread_.empty();
  output->AppendLines(absl::StrCat(narrowed ? "Of all threads: " : "",
                                   GilSentence(replay, &all), GilNotes(replay),
                                   "\n"));
  PrintRows(GilRows::kThreads, replay, keep, table_.limit(), TableFormat::kText,
            output);
  output->AppendLines(
      table_.NotShown(GilThreadsOf(replay, keep).size(), "thread", "threads"));
  if (replay.gils() > 1) {
    output->AppendLines("\nEach interpreter's GIL:\n");
    PrintRows(GilRows::kGils, replay, keep, table_.limit(), TableFormat::kText,
              output);
  }
  if (replay.blocked_ns().empty()) return;
  const bool locks = replay.HasLocksAlone();
  output->AppendLines("\nWho waits for whom, seconds:\n");
  PrintTable(GilMatrix(replay, keep), TableFormat::kText, output);
  if (!replay.blocked_by_place().empty()) {
    output->AppendLines(
        absl::StrCat(locks ? "\nWhere threads let go while others waited"
                           : "\nWhat holds the GIL while others wait",
                     narrowed ? ", of all threads" : "", ":\n"));
    PrintRows(GilRows::kPlaces, replay, keep, kPlacesInText, TableFormat::kText,
              output);
  }
  if (replay.stops().all().stops > 0) {
    output->AppendLines("\nWhere all threads were stopped:\n");
    PrintRows(GilRows::kStops, replay, keep, kPlacesInText, TableFormat::kText,
              output);
  }
  output->AppendLines("\nThe longest waits:\n");
  PrintWaits(replay, keep, kWaitsInText, output);
}

int GilCommand::Run(const Console& console, OutputBuffer* output) {
  const auto file = RereadFile::Open(files_.paths[0], console);
  if (file == nullptr) return kExitFailed;
  GilReplay replay;
  int code = kExitOk;
  MomentRange range;
  if (!range_.Find(file.get(), console, &range, &code)) return code;
  replay.SetRange(TimeRange::OfMicros(range.from_us, range.to_us));
  if (!file->Read(&replay)) return kExitFailed;
  if (!replay.has_gil()) {
    console.Say(absl::StrCat(
        file->shown_name(),
        ": has no GIL events: record them with pymemrun --trace gil"));
    return file->whole() ? kExitUsage : file->code();
  }
  ThreadFilter keep(thread_, &replay.index());
  if (SayNoThread(&keep, file->shown_name(), console)) return kExitUsage;
  if (table_.as_text() && !rows_.has_value()) {
    PrintAll(replay, &keep, output);
  } else if (table_.as_text() && *rows_ == GilRows::kWaits) {
    PrintWaits(replay, &keep, table_.limit(), output);
  } else {
    // Machines get all rows, unless they say otherwise.
    PrintRows(
        rows_.value_or(GilRows::kThreads), replay, &keep,
        table_.as_text() ? table_.limit() : table_.given_limit.value_or(0),
        table_.format(), output);
  }
  return file->code();
}

}  // namespace

std::unique_ptr<ReportCommand> NewGilCommand() {
  return std::make_unique<GilCommand>();
}

}  // namespace pymemrun
