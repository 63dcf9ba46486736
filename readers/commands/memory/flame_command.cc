#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "readers/pictures/chart/flame_graph.h"
#include "readers/pictures/chart/svg_chart.h"
#include "readers/replay/heap/heap_reading.h"
#include "readers/replay/heap/heap_stacks.h"
#include "readers/replay/heap/heap_table.h"
#include "readers/replay/heap/heap_totals.h"
#include "readers/replay/heap_in_rss/heap_mapped.h"
#include "readers/replay/moments/moment_reading.h"
#include "readers/report/report_command.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

std::string FlameTitle(const HeapMoments& replay) {
  return absl::StrCat(TitleOf("Live bytes", replay.header().script()), " at ",
                      MomentText(replay, 0));
}

class FlameCommand final : public ReportCommand {
 public:
  FlameCommand()
      : ReportCommand(
            "flame", "live bytes at a moment as a flame graph",
            "Draws what is alive at a moment as a flame graph, an SVG that can "
            "be zoomed and searched.") {}

  void AddOptions(CLI::App* app) override {
    needs_.Add(Recorded::kHeap);
    files_.AddOne(app);
    AddMoment(app, &at_);
    app->add_flag(
        "--inverted", inverted_,
        "Begin with the frames that allocated; their callers come below.");
    app->add_flag("--by-thread", by_thread_, "Draw a root for each thread.");
    AddThread(app, &thread_);
    files_.AddOutput(app);
    // Colours show whose code a frame is, so there is nothing to choose.
    Refuse(app, "--own",
           "a flame graph shows all frames, your code's and others'");
  }
  std::string OfOneRun() const override { return "a flame graph"; }
  std::string NotForTerminal() const override { return "pictures"; }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  Moment at_;
  bool inverted_ = false;
  bool by_thread_ = false;
  std::string thread_;
};

// HeapTree() sums up live blocks by stack, PrintFlame() draws the tree.
int FlameCommand::Run(const Console& console, OutputBuffer* output) {
  int code = kExitOk;
  const auto read = ReadHeapAt(files_.paths[0], at_, console, &code);
  if (read == nullptr) return code;
  const HeapMoments& replay = *read;
  ThreadFilter threads(thread_, &replay.index());
  if (SayNoThread(&threads, TerminalText(files_.paths[0]), console)) {
    return kExitUsage;
  }
  const GroupBy by = by_thread_ ? GroupBy::kThread : GroupBy::kLine;
  // Inverted, the frames of an import are of interest: one of them allocated.
  const PlaceTree tree = HeapTree(by, replay,
                                  {.inverted = inverted_,
                                   .folds_imports = !inverted_,
                                   .keep = OfThreads(&threads)});
  FlameTexts texts;
  texts.title = FlameTitle(replay);
  texts.counts_are_estimates = replay.sampled();
  texts.subtitle = absl::StrCat(
      HeapSumsText(TotalsOf(replay.model(), replay.SumsAt(0)).live, replay),
      "; process ", replay.header().pid(),
      inverted_ ? "; the frames that allocated are on top" : "");
  for (const std::string& text :
       {ThreadText(replay, &threads), ReservedText(replay)}) {
    if (text.empty()) continue;
    absl::StrAppend(&texts.subtitle, "; ", absl::StripSuffix(text, "\n"));
  }
  PrintFlame(tree, texts, output);
  return code;
}

}  // namespace

std::unique_ptr<ReportCommand> NewFlameCommand() {
  return std::make_unique<FlameCommand>();
}

}  // namespace pymemrun
