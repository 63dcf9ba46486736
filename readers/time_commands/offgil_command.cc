#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "readers/chart/flame_graph.h"
#include "readers/chart/svg_chart.h"
#include "readers/gil/gil_tables.h"
#include "readers/gil/gil_text.h"
#include "readers/gil/off_gil_tree.h"
#include "readers/gil/wait_stacks.h"
#include "readers/options/help_text.h"
#include "readers/options/option_values.h"
#include "readers/output/html_page.h"
#include "readers/places/tree_text.h"
#include "readers/report/range_options.h"
#include "readers/report/report_command.h"
#include "readers/run/reread_file.h"
#include "readers/states/state_replay.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

constexpr double kMicrosecond = 1000;  // in ns

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

class OffGilCommand final : public ReportCommand {
 public:
  OffGilCommand()
      : ReportCommand(
            "offgil", "where threads wait for the GIL, as a flame graph",
            "Says where threads wait for the global interpreter lock (GIL): "
            "their stacks, by the time waited. Into a file whose name ends in "
            ".svg it draws a flame graph. It needs GIL events.\n\nAll "
            "time is counted that the command gil counts as waiting. Short "
            "waits have no stack, and are summed up for each thread.") {}

  void AddOptions(CLI::App* app) override;
  std::string Problem() const override;
  std::string OfOneRun() const override { return svg() ? "a flame graph" : ""; }
  std::string NotForTerminal() const override {
    return svg() ? "pictures" : "";
  }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  bool svg() const {
    return svg_ ||
           (!collapsed_ && table_.as_text() && IsPictureName(files_.output));
  }
  std::string Sentence(const WaitStacks& replay, const OffGilTree& tree) const;
  static int AddSleeps(RereadFile* file, const TimeRange& range,
                       ThreadFilter* keep, OffGilTree* tree,
                       const Console& console);
  void Print(const WaitStacks& replay, const OffGilTree& tree,
             OutputBuffer* output) const;

  TableOptions table_;
  OffGilTree::Options options_;
  bool svg_ = false, collapsed_ = false, sleeps_ = false;
  std::string thread_;
  RangeOptions range_;
};

void OffGilCommand::AddOptions(CLI::App* app) {
  files_.AddOne(app);
  AddChoice(app, "--by", &options_.by,
            Choices<WaitsBy>{{"waiter", WaitsBy::kWaiter},
                             {"holder", WaitsBy::kHolder},
                             {"both", WaitsBy::kBoth}},
            "WHOSE",
            "Whose stacks: waiter, the threads that wait (default); holder, "
            "those that have the GIL meanwhile; both, the holder's below the "
            "waiter's.");
  app->add_flag("--svg", svg_,
                "Draw a flame graph, whatever the output's name.");
  app->add_flag("--collapsed", collapsed_,
                "Print a line for each stack, frame;frame;frame microseconds, "
                "for tools that draw flame graphs.");
  table_.Add(app, 30, ": a row for each frame");
  app->add_flag("--inverted", options_.inverted,
                "Begin with the innermost frames; their callers come below.");
  app->add_flag("--merge-threads", options_.merge_threads,
                "Put the stacks of all threads together.");
  app->add_flag("--keep-imports", options_.keep_imports,
                "Show the frames of the import machinery.");
  app->add_flag("--sleeps", sleeps_,
                "Add what threads slept for otherwise, without stacks. It "
                "needs states.");
  AddThread(app, &thread_);
  range_.Add(app);
  AddOwn(app);
  files_.AddOutput(app);
  SetUsualOptions(app, {"--by", "--svg", "--collapsed", "--inverted",
                        "--sleeps", "--limit", "--output"});
}

std::string OffGilCommand::Problem() const {
  const std::string problem = table_.Problem();
  if (!problem.empty()) return problem;
  if ((svg_ ? 1 : 0) + (collapsed_ ? 1 : 0) + (table_.as_text() ? 0 : 1) > 1) {
    return "give one of --svg, --collapsed, --csv and --json";
  }
  if ((svg() || collapsed_) && table_.given_limit.has_value()) {
    return "--limit is of tables: a flame graph has all stacks";
  }
  if (options_.inverted && options_.by == WaitsBy::kBoth) {
    return "--inverted takes no --by both";
  }
  if (sleeps_ && options_.by == WaitsBy::kHolder) {
    return "--sleeps takes no --by holder: nobody else causes them";
  }
  return "";
}

std::string OffGilCommand::Sentence(const WaitStacks& replay,
                                    const OffGilTree& tree) const {
  const bool locks = replay.HasLocksAlone();
  std::string text =
      absl::StrCat("Threads waited ", Seconds(tree.waited_ns()),
                   locks ? " for the interpreter's locks, and where all were "
                           "stopped."
                         : " for the GIL.");
  const auto took =
      std::count_if(replay.threads().begin(), replay.threads().end(),
                    [](const GilThreadTimes& times) { return times.any; });
  if (took == 1 && !locks) {
    absl::StrAppend(&text, " One thread ran Python: nobody waits for it.");
  }
  // Less is not worth a word.
  if (tree.without_stack_ns() * 1000 > tree.waited_ns()) {
    absl::StrAppend(
        &text, " Of ", Seconds(tree.without_stack_ns()),
        absl::StrFormat(" (%.1f %%)",
                        100 * static_cast<double>(tree.without_stack_ns()) /
                            static_cast<double>(tree.waited_ns())),
        options_.by == WaitsBy::kHolder
            ? " it is not known where the holder was."
            : " no stack is known.");
  }
  if (sleeps_) {
    absl::StrAppend(&text, " They slept ", Seconds(tree.slept_ns()),
                    " otherwise.");
  }
  return text;
}

void OffGilCommand::Print(const WaitStacks& replay, const OffGilTree& tree,
                          OutputBuffer* output) const {
  if (collapsed_) return tree.tree().PrintCollapsed(output, kMicrosecond);
  if (svg()) {
    FlameTexts texts;
    texts.unit = TreeUnit::kNanos;
    texts.title = TitleOf(
        replay.HasLocksAlone() ? "Waits for locks" : "Waits for the GIL",
        replay.header().script());
    texts.subtitle = absl::StrCat(
        Sentence(replay, tree),
        options_.by == WaitsBy::kHolder ? " Who had it meanwhile." : "",
        " Process ", replay.header().pid(), ".");
    return PrintFlame(tree.tree(), texts, output);
  }
  if (!table_.as_text()) {
    return PrintTable(tree.ToTable(table_.limit(), table_.format()),
                      table_.format(), output);
  }
  output->AppendLines(
      absl::StrCat(Sentence(replay, tree), "\n", GilNotes(replay), "\n"));
  output->Append(TreeText(tree.tree(), table_.limit(), output->terminal(),
                          TreeUnit::kNanos));
  output->AppendLines(table_.NotShown(tree.tree().nodes().size() - 1,
                                      "smaller frame", "smaller frames"));
}

// A second reading. What is not kExitOk has been said.
int OffGilCommand::AddSleeps(RereadFile* file, const TimeRange& range,
                             ThreadFilter* keep, OffGilTree* tree,
                             const Console& console) {
  StateReplay states;
  states.SetRange(range);
  if (!file->Read(&states)) return kExitFailed;
  if (!states.has_states()) {
    console.Say(absl::StrCat(file->shown_name(),
                             ": has no states of threads for --sleeps: record "
                             "them with pymemrun --trace gil,states"));
    return kExitUsage;
  }
  for (uint32_t thread = 0; thread < states.states().size(); ++thread) {
    if (!keep->Keeps(thread)) continue;
    const ThreadTimes& times = states.states()[thread].times;
    for (const auto& [state, what] : kSleeps) {
      const auto at = static_cast<size_t>(state);
      tree->AddSleeps(thread, what, times.ns[at], times.sleeps[at]);
    }
  }
  return kExitOk;
}

int OffGilCommand::Run(const Console& console, OutputBuffer* output) {
  const auto file = RereadFile::Open(files_.paths[0], console);
  if (file == nullptr) return kExitFailed;
  WaitStacks replay(options_.by);
  int code = kExitOk;
  MomentRange found;
  if (!range_.Find(file.get(), console, &found, &code)) return code;
  const TimeRange range = TimeRange::OfMicros(found.from_us, found.to_us);
  replay.SetRange(range);
  if (!file->Read(&replay)) return kExitFailed;
  if (!replay.has_gil()) {
    console.Say(absl::StrCat(
        file->shown_name(),
        ": has no GIL events: record them with pymemrun --trace gil"));
    return file->whole() ? kExitUsage : file->code();
  }
  ThreadFilter keep(thread_, &replay.index());
  if (SayNoThread(&keep, file->shown_name(), console)) return kExitUsage;
  OffGilTree tree(&replay, options_);
  tree.Add(&keep);
  if (sleeps_) {
    code = AddSleeps(file.get(), range, &keep, &tree, console);
    if (code != kExitOk) return code;
  }
  tree.SumUp();
  Print(replay, tree, output);
  return file->code();
}

}  // namespace

std::unique_ptr<ReportCommand> NewOffgilCommand() {
  return std::make_unique<OffGilCommand>();
}

}  // namespace pymemrun
