#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "readers/heap/heap_reading.h"
#include "readers/heap/heap_stacks.h"
#include "readers/heap_in_rss/heap_mapped.h"
#include "readers/moments/moment_reading.h"
#include "readers/options/option_values.h"
#include "readers/places/tree_text.h"
#include "readers/report/report_command.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

class TreeCommand final : public ReportCommand {
 public:
  TreeCommand()
      : ReportCommand("tree", "live bytes at a moment as a call tree",
                      "Prints what is alive at a moment as a call tree. A "
                      "library's import is one frame. It needs a run with heap "
                      "events.") {}

  void AddOptions(CLI::App* app) override {
    files_.AddOne(app);
    AddMoment(app, &at_);
    AddParsed(
        app, "--limit", &limit_,
        [](absl::string_view text) { return ParseNumber(text, 0); }, "N",
        "List at most N frames (30); 0: all.");
    app->add_flag(
        "--inverted", inverted_,
        "Begin with the frames that allocated; their callers come below.");
    AddThread(app, &thread_);
    AddOwn(app);
    files_.AddOutput(app);
  }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  Moment at_;
  uint64_t limit_ = 30;
  bool inverted_ = false;
  std::string thread_;
};

int TreeCommand::Run(const Console& console, OutputBuffer* output) {
  int code = kExitOk;
  const auto replay = ReadHeapAt(files_.paths[0], at_, console, &code);
  if (replay == nullptr) return code;
  ThreadFilter threads(thread_, &replay->index());
  if (SayNoThread(&threads, TerminalText(files_.paths[0]), console)) {
    return kExitUsage;
  }
  HeapStacks stacks(GroupBy::kLine, replay.get(), inverted_);
  if (!inverted_) stacks.FoldImports();
  stacks.Add(replay->SumsAt(0), OfThreads(&threads));
  output->AppendLines(LiveText(*replay, 0) + ThreadText(*replay, &threads) +
                      MeaningText(*replay) + ReservedText(*replay));
  output->Append(TreeText(stacks.tree(), limit_, output->terminal()));
  const uint64_t frames = stacks.tree().nodes().size() - 1;
  if (limit_ != 0 && frames > limit_) {
    output->AppendLines(absl::StrCat(Counted(frames - limit_, "smaller frame"),
                                     " not shown (--limit)\n"));
  }
  return code;
}

}  // namespace

std::unique_ptr<ReportCommand> NewTreeCommand() {
  return std::make_unique<TreeCommand>();
}

}  // namespace pymemrun
