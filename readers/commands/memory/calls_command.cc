#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/commands/call_options.h"
#include "readers/options/help_text.h"
#include "readers/options/option_values.h"
#include "readers/replay/calls/call_filter.h"
#include "readers/replay/calls/call_replay.h"
#include "readers/replay/calls/call_tree.h"
#include "readers/replay/calls/flow_table.h"
#include "readers/report/range_options.h"
#include "readers/report/report_command.h"
#include "readers/report/run_reading.h"
#include "readers/run/reread_file.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Usual limits, of text.
constexpr uint64_t kTreeLines = 10000, kFunctions = 20;

// Each view is a CallReplay: PeakReplay lists calls, CallFinder finds one,
// CallTree has what was in it, FlowReplay sums up by function.
class CallsCommand final : public ReportCommand {
 public:
  CallsCommand()
      : ReportCommand(
            "calls", "the calls that changed RSS most; what was in one call",
            "Lists calls that changed RSS between their CALL and their RETURN: "
            "thread, file, line of the RETURN, function, bytes. --peak and "
            "--event print what was in one of them. --by function adds up the "
            "calls of each function.\n\nWhere peaks are close together, only "
            "the first is shown. A change also counts for the callers. By "
            "function, only the outermost call of a recursion counts. If page "
            "faults were recorded, a change is that of the call's own thread. "
            "Otherwise it is that of the whole process during the call. It "
            "needs a run that logged each event, or calls by their growth. One "
            "line says what is missing.") {}

  std::vector<OldName> OldNames() const override {
    return {{"peaks", {}},
            {"flow",
             {"--by", "function"},
             "Lists functions by how much RSS changed during their calls, with "
             "and without the functions they called."}};
  }
  void AddOptions(CLI::App* app) override;
  std::string OfOneRun() const override { return is_tree() ? "one call" : ""; }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  bool is_tree() const { return event_.has_value() || peak_.has_value(); }
  bool ReadCalls(CallReplay* replay, ThreadFilter* threads,
                 RunReading* run) const;
  std::optional<EndedCall> Root(RunReading* run) const;
  void PrintPeaks(RunReading* run, OutputBuffer* output) const;
  void PrintTree(RunReading* run, OutputBuffer* output) const;
  void PrintFunctions(RunReading* run, OutputBuffer* output) const;

  std::optional<uint64_t> event_, peak_;
  std::optional<GroupBy> by_;  // nothing: calls are listed
  PeakOptions peaks_;
  RangeOptions range_;
  CallAttribution attribution_;
  TableOptions table_;
};

void CallsCommand::AddOptions(CLI::App* app) {
  const auto number = [](uint64_t least) {
    return [least](absl::string_view text) { return ParseNumber(text, least); };
  };
  files_.AddOne(app);
  AddParsed(app, "--event", &event_, number(0), "N",
            "Print the call whose RETURN is event N of pymemcat, and the calls "
            "in it.");
  AddParsed(app, "--peak", &peak_, number(1), "K",
            "Print the call of peak K of the list, and the calls in it.");
  AddChoice<std::optional<GroupBy>>(
      app, "--by", &by_,
      {{"call", std::nullopt},
       {"function", GroupBy::kFunction},
       {"file", GroupBy::kFile},
       {"package", GroupBy::kPackage}},
      "KIND",
      "List calls (call, default), or add up the growth of all calls by "
      "function, file or package, without what they called. Functions also "
      "have it with that.");
  peaks_.Add(app);
  range_.Add(app);
  attribution_.Add(app, &needs_);
  if (words().empty()) {
    table_.Add(
        app, 0, "A row for each call or place.", "calls",
        absl::StrCat(", places ", kFunctions, ", lines of --peak and --event ",
                     Grouped(kTreeLines)));
  } else {  // by the old name "flow"
    table_.Add(app, kFunctions, "A row for each place.");
  }
  table_.AddSort(app);
  files_.AddOutput(app);
  ExcludeEachOther(app, {"--event", "--peak", "--by"});
  Exclude(app, {"--event", "--peak"}, {"--sort"});
  // The number says which call, whatever the list has.
  Exclude(app, {"--event"}, {"--thread", "--min", "--min-time", "--min-value"});
  Exclude(app, {"--event", "--peak"}, {"--from", "--to"});
  Exclude(app, {"--by function|file|package"},
          {"--min", "--min-time", "--min-value", "--strip-prefix"});
  SetUsualOptions(app, {"--event", "--peak", "--by", "--min", "--thread",
                        "--limit", "--csv", "--output"});
}

// Gives the replay the calls.
bool CallsCommand::ReadCalls(CallReplay* replay, ThreadFilter* threads,
                             RunReading* run) const {
  attribution_.Give(replay);
  return run->Read(replay) && run->Has(replay->any(), replay->WhyNone()) &&
         run->HasThread(threads);
}

// Nothing: there is no such call, and why has been said.
std::optional<EndedCall> CallsCommand::Root(RunReading* run) const {
  if (event_.has_value()) {
    CallFinder finder(*event_);
    attribution_.Give(&finder);
    if (!run->Read(&finder)) return std::nullopt;
    const std::string why_not = finder.WhyNot();
    if (!run->Has(why_not.empty(), why_not)) return std::nullopt;
    return finder.call();
  }
  PeakReplay replay(peaks_.rule, peaks_.choice);
  if (!ReadCalls(&replay, replay.threads(), run)) return std::nullopt;
  const std::vector<EndedCall> peaks = replay.Peaks();
  const bool there = *peak_ <= peaks.size();
  if (!run->Has(there, absl::StrCat("there is no peak ", *peak_, ", only ",
                                    Counted(peaks.size(), "peak")))) {
    return std::nullopt;
  }
  return peaks[*peak_ - 1];
}

// Apart from the lines, which are for other programs, too.
void SayNotShown(uint64_t calls, const Console& console) {
  if (calls == 0) return;
  console.Say(
      absl::StrCat(Counted(calls, "more call"), " not shown (--limit)"));
}

// Two readings: the first finds the call, whose range of events the second
// collects.
void CallsCommand::PrintTree(RunReading* run, OutputBuffer* output) const {
  const std::optional<EndedCall> root = Root(run);
  if (!root.has_value()) return;
  CallTree tree(*root, peaks_.choice);
  attribution_.Give(&tree);
  if (!run->file()->ReadAgain(&tree)) {
    run->Fail(kExitFailed);
    return;
  }
  const std::string missing = tree.Missing();
  if (!missing.empty()) {
    run->Say(absl::StrCat("not in the tree: ", missing,
                          tree.pairs_rows() ? "" : "; --min-drss 0 logs all"));
  }
  attribution_.SayWhatCounts(tree, *run->file(), run->console());
  const uint64_t limit = table_.limit();
  if (table_.as_text()) {
    tree.Print(peaks_.prefix, limit, output);
  } else {
    PrintTable(tree.ToTable(peaks_.prefix, limit), table_.format(), output);
  }
  // The tree has the call itself, too.
  SayNotShown(tree.calls() + 1 - tree.Shown(limit), run->console());
}

// Those that ended then. Numbers are those of the whole run. `as_text`: growth
// is what the lines of text have, the thread's where that is known.
Table PeakTable(const std::vector<EndedCall>& peaks, const MomentRange& range,
                const PeakReplay& replay, absl::string_view prefix,
                bool as_text) {
  const RunIndex& index = replay.index();
  Table table;
  table.headings = {{"peak", "peak"},
                    {"clock_s", "time"},
                    {"thread", "thread", CellLook::kName},
                    {"file", "file", CellLook::kName},
                    {"line", "line"},
                    {"function", "function", CellLook::kName},
                    {"growth_bytes", "growth", CellLook::kBytes},
                    {"call_s", "seconds"},
                    {"event", "event"},
                    {"call_event", "call"},
                    {"thread_growth_bytes", "by thread", CellLook::kBytes},
                    {"unix_s", ""}};
  uint64_t number = 0;
  for (const EndedCall& peak : peaks) {
    ++number;
    // Numbers are given before a call is left out.
    if (peak.time_us < range.from_us || peak.time_us > range.to_us) continue;
    const SourceLocation where = index.Resolve(peak.site);
    table.rows.push_back({number, static_cast<double>(peak.time_us) * 1e-6,
                          std::string(index.LatestThreadLabel(peak.thread)),
                          std::string(WithoutPrefix(where.file, prefix)),
                          uint64_t{where.line}, std::string(where.function),
                          as_text ? peak.charged_bytes : peak.growth_bytes,
                          static_cast<double>(peak.took_us) * 1e-6, peak.number,
                          peak.call_number(),
                          replay.ThreadCell(peak.thread_bytes),
                          replay.UnixCell(peak.time_us)});
  }
  table.places = table.rows.size();
  return table;
}

// Text has the lines of PeakLine(), in the order of the table that was chosen
// and sorted. The first column has the number by which a peak is found again.
void CallsCommand::PrintPeaks(RunReading* run, OutputBuffer* output) const {
  PeakReplay replay(peaks_.rule, peaks_.choice);
  MomentRange range;
  if (!ReadCalls(&replay, replay.threads(), run) ||
      !run->Find(range_, &range)) {
    return;
  }
  const std::vector<EndedCall> peaks = replay.Peaks();
  Table table =
      PeakTable(peaks, range, replay, peaks_.prefix, table_.as_text());
  const auto all = table_.Choose(run->console(), output, &table);
  if (!all.has_value()) {
    run->Fail(kExitUsage);
    return;
  }
  if (*all > 0) {
    attribution_.SayWhatCounts(replay, *run->file(), run->console());
  }
  if (*all == 0 && !peaks.empty()) {
    run->Say(NotInRange(absl::StrCat("calls that changed RSS by more than ",
                                     HumanBytes(peaks_.rule.min_bytes)),
                        peaks.front().time_us, peaks.back().time_us));
  } else if (*all == 0 &&
             (table_.as_text() || peaks_.choice.view.chooses_places())) {
    run->Say(peaks_.NoCall());
  }
  if (!table_.as_text()) return PrintTable(table, table_.format(), output);
  for (const std::vector<Cell>& row : table.rows) {
    const auto number = std::get<uint64_t>(row[0]);
    const std::string line =
        PeakLine(number, peaks[number - 1], replay.index(), peaks_.prefix);
    output->Append(absl::StrCat(TerminalText(line), "\n"));
  }
  SayNotShown(*all - table.rows.size(), run->console());
}

// The replay sums up by function, and the table joins functions of a file or
// package.
void CallsCommand::PrintFunctions(RunReading* run, OutputBuffer* output) const {
  TimeRange range;
  if (!run->Find(range_, &range)) return;
  FlowReplay replay(peaks_.choice, range);
  if (!ReadCalls(&replay, replay.threads(), run)) return;
  const std::string missing = replay.Missing();
  if (!missing.empty()) run->Say(absl::StrCat("not counted: ", missing));
  if (replay.not_kept() > 0) {
    run->Say(
        absl::StrCat(Counted(replay.not_kept(), "more call"), " did not fit"));
  }
  attribution_.SayWhatCounts(replay, *run->file(), run->console());
  Table table = replay.ToTable(*by_, table_.as_text());
  const auto all = table_.Choose(run->console(), output, &table);
  if (!all.has_value()) {
    run->Fail(kExitUsage);
    return;
  }
  if (*all == 0 && range_.any() && !peaks_.choice.view.chooses_places()) {
    SayNotInRange("calls", peaks_.choice.thread, run->file(), run->console());
    if (table_.as_text()) return;
  }
  SayNoPlaces(*all == 0, peaks_.choice.view, by_, run->console(), output);
  PrintTable(table, table_.format(), output);
  if (table_.as_text()) {
    output->AppendLines(table_.NotShown(*all, "place", "places"));
  }
}

// What threads did has to be known before calls are paired: a reading of its
// own.
int CallsCommand::Run(const Console& console, OutputBuffer* output) {
  RunReading run(*this, console);
  if (run.file() == nullptr) return run.code();
  attribution_.Read(run.file());
  table_.usual_limit = is_tree()         ? kTreeLines
                       : by_.has_value() ? kFunctions
                                         : 0;
  if (is_tree()) {
    PrintTree(&run, output);
  } else if (by_.has_value()) {
    PrintFunctions(&run, output);
  } else {
    PrintPeaks(&run, output);
  }
  return run.code();
}

}  // namespace

std::unique_ptr<ReportCommand> NewCallsCommand() {
  return std::make_unique<CallsCommand>();
}

}  // namespace pymemrun
