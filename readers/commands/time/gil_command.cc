#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "readers/options/help_text.h"
#include "readers/options/option_values.h"
#include "readers/output/html_page.h"
#include "readers/pictures/chart/flame_graph.h"
#include "readers/pictures/chart/svg_chart.h"
#include "readers/places/place_tree.h"
#include "readers/replay/gil/gil_replay.h"
#include "readers/replay/gil/gil_tables.h"
#include "readers/replay/gil/gil_text.h"
#include "readers/replay/gil/off_gil_tree.h"
#include "readers/replay/gil/wait_stacks.h"
#include "readers/replay/states/state_replay.h"
#include "readers/report/range_options.h"
#include "readers/report/report_command.h"
#include "readers/report/run_reading.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

// Usual limits of the parts of a text. A line of a stack that continues is
// indented by kStackIndent.
constexpr size_t kWaitsInText = 3;
constexpr size_t kStackIndent = 8;
constexpr uint64_t kPlacesInText = 5;
constexpr uint64_t kRowsInText = 20, kFramesInText = 30;

// What a thread sleeps for, other than the GIL.
constexpr struct {
  ThreadState state;
  const char* what;
} kSleeps[] = {{ThreadState::kLock, "sleeps for a lock"},
               {ThreadState::kIo, "sleeps for I/O"},
               {ThreadState::kTimer, "sleeps a set time"},
               {ThreadState::kPageFault, "sleeps for a page"},
               {ThreadState::kOther, "sleeps otherwise"}};

std::string Seconds(uint64_t ns) {
  return absl::StrFormat("%.3f s", static_cast<double>(ns) / 1e9);
}

// Three replays answer. GilReplay sums up holds and waits; WaitStacks keeps the
// stacks of waits, for --off. StateReplay has sleeps for other reasons.
class GilCommand final : public ReportCommand {
 public:
  GilCommand()
      : ReportCommand(
            "gil", "who holds the GIL, who waits for it, and where",
            "Says how long each thread held the global interpreter lock (GIL), "
            "waited for it, and ran or slept without it. It says who waited "
            "for whom, and at which lines.\n\nA thread without the GIL delays "
            "no other thread. Holding the GIL is bad "
            "only if other threads wait for it. Lines are known for long "
            "waits, by default of 1 ms or more. With --off it prints the "
            "stacks of waiting threads, by the time waited, and the sum of "
            "short waits for each thread. With -o FILE.svg it then draws a "
            "flame graph.") {}

  std::vector<OldName> OldNames() const override {
    return {{"offgil",
             {"--off"},
             "Prints the stacks of threads that wait for the GIL, by the time "
             "waited, and the sum of short waits for each thread. With -o "
             "FILE.svg it draws a flame graph."}};
  }
  void AddOptions(CLI::App* app) override;
  std::string Problem() const override;
  std::string OfOneRun() const override { return svg() ? "a flame graph" : ""; }
  std::string NotForTerminal() const override {
    return svg() ? "pictures" : "";
  }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  void AddOff(CLI::App* app);
  // Whether --off draws: by the option, or by the output's name unless another
  // format is asked for.
  bool svg() const {
    return svg_ || (off_ && !collapsed_ && table_.as_text() &&
                    IsPictureName(files_.output));
  }
  void PrintAll(Table threads, const GilReplay& replay, ThreadFilter* keep,
                OutputBuffer* output) const;
  // Reads what --from, --to and --thread choose. False: that is all, and why
  // has been said.
  template <typename Replay>
  bool Read(RunReading* run, Replay* replay, TimeRange* range,
            ThreadFilter* keep) const {
    if (!run->Find(range_, range)) return false;
    replay->SetRange(*range);
    if (!run->Read(replay) || !run->HasThread(keep)) return false;
    if (!range_.any() || !HasNoGilTimes(*replay, keep)) return true;
    SayNotInRange(replay->HasLocksAlone() ? "waits for the interpreter's locks"
                                          : "GIL times",
                  thread_, run->file(), run->console());
    return !table_.as_text() || svg() || sleeps_;
  }
  void PrintTimes(RunReading* run, OutputBuffer* output) const;
  void PrintStacks(RunReading* run, OutputBuffer* output) const;
  std::string Sentence(const WaitStacks& replay, const OffGilTree& tree) const;
  void Print(const WaitStacks& replay, const OffGilTree& tree,
             OutputBuffer* output) const;

  TableOptions table_;
  std::optional<GilRows> rows_;
  std::string thread_;
  RangeOptions range_;
  // Only for --off.
  bool off_ = false, svg_ = false, collapsed_ = false, sleeps_ = false;
  OffGilTree::Options stacks_;
};

// The old name "offgil" has --off, so its help is about frames.
void GilCommand::AddOptions(CLI::App* app) {
  needs_.Add(Recorded::kGil);
  needs_.AddWith("--sleeps", Recorded::kStates);
  files_.AddOne(app);
  const bool is_tree = !words().empty();  // by the old name
  table_.Add(app, is_tree ? kFramesInText : kRowsInText,
             is_tree ? "A row for each frame."
                     : "A row for each thread, or see --rows and --off.",
             is_tree ? "frames" : "rows",
             is_tree ? "" : absl::StrCat(", with --off ", kFramesInText));
  AddChoice(
      app, "--rows", &rows_,
      Choices<std::optional<GilRows>>{{"threads", GilRows::kThreads},
                                      {"blockers", GilRows::kBlockers},
                                      {"waits", GilRows::kWaits},
                                      {"places", GilRows::kPlaces},
                                      {"gils", GilRows::kGils},
                                      {"stops", GilRows::kStops}},
      "WHAT",
      "Print only one table: threads (default of CSV and JSON), blockers (who "
      "waited for whom) or waits (the longest, with both stacks). places are "
      "the lines that held the GIL during waits, gils each interpreter's GIL, "
      "and stops where all threads were stopped.");
  table_.AddSort(app);
  AddThread(app, &thread_);
  range_.Add(app);
  AddOwn(app);
  files_.AddOutput(app);
  AddOff(app);
  SetUsualOptions(
      app, {"--rows", "--off", "--thread", "--limit", "--csv", "--output"});
}

// Options of the tree of stacks, and which of them make no sense together.
void GilCommand::AddOff(CLI::App* app) {
  app->add_flag("--off", off_,
                "Print where threads wait for the GIL, as a tree of stacks.");
  AddChoice(app, "--by", &stacks_.by,
            Choices<WaitsBy>{{"waiter", WaitsBy::kWaiter},
                             {"holder", WaitsBy::kHolder},
                             {"both", WaitsBy::kBoth}},
            "WHOSE",
            "Show the stacks of the waiting threads (waiter, default), or of "
            "those that hold the GIL (holder). both puts the holder's below "
            "the waiter's.");
  app->add_flag("--svg", svg_,
                "Draw a flame graph, whatever the output's name.");
  app->add_flag("--collapsed", collapsed_,
                "Print a line for each stack, frame;frame;frame microseconds, "
                "for tools that draw flame graphs.");
  app->add_flag("--inverted", stacks_.inverted,
                "Begin with the innermost frames; their callers come below.");
  app->add_flag("--merge-threads", stacks_.merge_threads,
                "Put the stacks of all threads together.");
  app->add_flag("--keep-imports", stacks_.keep_imports,
                "Show the frames of the import machinery.");
  app->add_flag(
      "--sleeps", sleeps_,
      "Add the time that threads slept for other reasons, without stacks.");
  Need(app,
       {"--by", "--svg", "--collapsed", "--inverted", "--merge-threads",
        "--keep-imports", "--sleeps"},
       "--off");
  Exclude(app, {"--off"}, {"--rows", "--sort"});
  ExcludeEachOther(app, {"--svg", "--collapsed", "--csv", "--json"});
  Exclude(app, {"--svg", "--collapsed"}, {"--limit"});
  Exclude(app, {"--by both"}, {"--inverted"});
  Exclude(app, {"--by holder"}, {"--sleeps"});
}

// What CLI11 cannot see: the output's name makes it a picture, and waits of a
// text have no columns.
std::string GilCommand::Problem() const {
  if (svg() && table_.given_limit.has_value()) {
    return "--limit applies to tables: a flame graph has all stacks";
  }
  const bool sorts_waits =
      rows_ == GilRows::kWaits && table_.as_text() && !table_.view.sort.empty();
  return sorts_waits ? "--sort of waits needs --csv or --json" : "";
}

// A table with two stacks would leave no room for them.
void PrintWaits(const GilReplay& replay, ThreadFilter* keep, size_t limit,
                OutputBuffer* output) {
  const std::string text = GilWaitsText(replay, keep, limit);
  output->Append(output->terminal().Wrapped(
      text.empty() ? "No thread waited for long.\n" : text, kStackIndent));
}

// An empty table has only headings; for people a word is better.
void PrintRows(Table table, TableFormat format, OutputBuffer* output) {
  if (format == TableFormat::kText && table.rows.empty()) {
    return output->AppendLines("None.\n");
  }
  if (format == TableFormat::kText) DropEmptyColumns(&table);
  PrintTable(table, format, output);
}

// For people, the first ones.
void PrintSome(GilRows rows, uint64_t limit, const GilReplay& replay,
               ThreadFilter* keep, OutputBuffer* output) {
  constexpr TableFormat kText = TableFormat::kText;
  PrintRows(GilTable(rows, replay, keep, limit, kText), kText, output);
}

// Each part has something to say, or is left out.
void GilCommand::PrintAll(Table threads, const GilReplay& replay,
                          ThreadFilter* keep, OutputBuffer* output) const {
  // Who holds the GIL matters to all who wait.
  ThreadFilter all("", &replay.index());
  const bool narrowed = !thread_.empty();
  output->AppendLines(absl::StrCat(narrowed ? "All threads: " : "",
                                   GilSentence(replay, &all), GilNotes(replay),
                                   "\n"));
  if (!threads.rows.empty()) {
    PrintRows(std::move(threads), TableFormat::kText, output);
  }
  output->AppendLines(
      table_.NotShown(GilThreadsOf(replay, keep).size(), "thread", "threads"));
  if (replay.gils() > 1) {
    output->AppendLines("\nEach interpreter's GIL:\n");
    PrintSome(GilRows::kGils, table_.limit(), replay, keep, output);
  }
  // The rest is about waits that have both a waiter and a holder.
  if (replay.blocked_ns().empty()) return;
  const bool locks = replay.HasLocksAlone();
  output->AppendLines("\nWho waits for whom, seconds:\n");
  PrintTable(GilMatrix(replay, keep), TableFormat::kText, output);
  if (!replay.blocked_by_place().empty()) {
    output->AppendLines(absl::StrCat(
        locks ? "\nWhere threads released locks while others waited"
              : "\nWhat holds the GIL while others wait",
        narrowed ? ", of all threads" : "", ":\n"));
    PrintSome(GilRows::kPlaces, kPlacesInText, replay, keep, output);
  }
  if (replay.stops().all().stops > 0) {
    output->AppendLines("\nWhere all threads were stopped:\n");
    PrintSome(GilRows::kStops, kPlacesInText, replay, keep, output);
  }
  output->AppendLines("\nThe longest waits:\n");
  PrintWaits(replay, keep, kWaitsInText, output);
}

std::string GilCommand::Sentence(const WaitStacks& replay,
                                 const OffGilTree& tree) const {
  const bool locks = replay.HasLocksAlone();
  std::string text =
      absl::StrCat("Threads waited ", Seconds(tree.waited_ns()),
                   locks ? " for the interpreter's locks, and where all were "
                           "stopped."
                         : " for the GIL.");
  // Threads that have any event of the GIL.
  const auto took =
      std::count_if(replay.threads().begin(), replay.threads().end(),
                    [](const GilThreadTimes& times) { return times.any; });
  if (took == 1 && !locks) {
    absl::StrAppend(
        &text,
        " Only one thread ran Python: no other thread waits for the GIL.");
  }
  // Less is not worth a word.
  if (tree.without_stack_ns() * 1000 > tree.waited_ns()) {
    absl::StrAppend(
        &text, " For ", Seconds(tree.without_stack_ns()),
        absl::StrFormat(" (%.1f %%)",
                        100 * static_cast<double>(tree.without_stack_ns()) /
                            static_cast<double>(tree.waited_ns())),
        stacks_.by == WaitsBy::kHolder ? " the holder's stack is unknown."
                                       : " the stack is unknown.");
  }
  if (sleeps_) {
    absl::StrAppend(&text, " They slept ", Seconds(tree.slept_ns()),
                    " for other reasons.");
  }
  return text;
}

// The first node of the tree is its root, which is no frame.
void GilCommand::Print(const WaitStacks& replay, const OffGilTree& tree,
                       OutputBuffer* output) const {
  if (collapsed_) return tree.tree().PrintCollapsed(output);
  if (svg()) {
    FlameTexts texts;
    texts.title = TitleOf(
        replay.HasLocksAlone() ? "Waits for locks" : "Waits for the GIL",
        replay.header().script());
    texts.subtitle = absl::StrCat(Sentence(replay, tree),
                                  stacks_.by == WaitsBy::kHolder
                                      ? " The stacks are those of the holders."
                                      : "",
                                  " Process ", replay.header().pid(), ".");
    return PrintFlame(tree.tree(), texts, output);
  }
  if (!table_.as_text()) {
    return PrintTable(tree.tree().ToTable(table_.limit(), table_.format()),
                      table_.format(), output);
  }
  output->AppendLines(
      absl::StrCat(Sentence(replay, tree), "\n", GilNotes(replay), "\n"));
  output->Append(TreeText(tree.tree(), table_.limit(), output->terminal()));
  output->AppendLines(table_.NotShown(tree.tree().nodes().size() - 1,
                                      "smaller frame", "smaller frames"));
}

// A second reading: states are of threads as a whole, so sleeps have no stacks.
// Each kind becomes one frame below its thread.
bool AddSleeps(const TimeRange& range, ThreadFilter* keep, RunReading* run,
               OffGilTree* tree) {
  StateReplay states;
  states.SetRange(range);
  if (!run->Read(&states)) return false;
  for (uint32_t thread = 0; thread < states.states().size(); ++thread) {
    if (!keep->Keeps(thread)) continue;
    const ThreadTimes& times = states.states()[thread].times;
    for (const auto& [state, what] : kSleeps) {
      const auto at = static_cast<size_t>(state);
      tree->AddSleeps(thread, what, times.ns[at], times.sleeps[at]);
    }
  }
  return true;
}

// Waits are added before sleeps; SumUp() then makes each node's sum include
// what is below it.
void GilCommand::PrintStacks(RunReading* run, OutputBuffer* output) const {
  WaitStacks replay(stacks_.by);
  TimeRange range;
  ThreadFilter keep(thread_, &replay.index());
  if (!Read(run, &replay, &range, &keep)) return;
  OffGilTree tree(&replay, stacks_);
  tree.Add(&keep);
  if (sleeps_ && !AddSleeps(range, &keep, run, &tree)) return;
  tree.SumUp();
  Print(replay, tree, output);
}

void GilCommand::PrintTimes(RunReading* run, OutputBuffer* output) const {
  GilReplay replay;
  TimeRange range;
  ThreadFilter keep(thread_, &replay.index());
  if (!Read(run, &replay, &range, &keep)) return;
  const GilRows rows = rows_.value_or(GilRows::kThreads);
  if (table_.as_text() && rows == GilRows::kWaits) {
    PrintWaits(replay, &keep, table_.limit(), output);
    return;
  }
  // All rows: Choose() sorts by any column before it cuts.
  Table table = GilTable(rows, replay, &keep, 0, table_.format());
  const auto all = table_.Choose(run->console(), output, &table);
  if (!all.has_value()) {
    run->Fail(kExitUsage);
  } else if (!table_.as_text()) {
    PrintTable(table, table_.format(), output);
  } else if (!rows_.has_value()) {
    PrintAll(std::move(table), replay, &keep, output);
  } else {
    PrintRows(std::move(table), TableFormat::kText, output);
    output->AppendLines(table_.NotShown(*all, "row", "rows"));
  }
}

int GilCommand::Run(const Console& console, OutputBuffer* output) {
  RunReading run(*this, console);
  if (off_) {
    table_.usual_limit = kFramesInText;
    PrintStacks(&run, output);
  } else {
    PrintTimes(&run, output);
  }
  return run.code();
}

}  // namespace

std::unique_ptr<ReportCommand> NewGilCommand() {
  return std::make_unique<GilCommand>();
}

}  // namespace pymemrun
