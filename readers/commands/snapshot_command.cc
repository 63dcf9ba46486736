#include <memory>
#include <string>

#include "readers/heap/heap_reading.h"
#include "readers/heap/heap_stacks.h"
#include "readers/heap/heap_table.h"
#include "readers/heap_in_rss/heap_mapped.h"
#include "readers/moments/moment_reading.h"
#include "readers/report/report_command.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

class SnapshotCommand final : public ReportCommand {
 public:
  SnapshotCommand()
      : ReportCommand("snapshot", "live bytes at a moment by call stack",
                      "Lists what is alive at a moment by call stack. It needs "
                      "a run with heap events.") {}

  void AddOptions(CLI::App* app) override {
    files_.AddOne(app);
    AddMoment(app, &at_);
    table_.Add(app, 0);
    stacks_.AddCollapsed(app);
    AddThread(app, &table_.thread);
    files_.AddOutput(app);
  }
  std::string Problem() const override {
    return stacks_.Problem(table_, GroupBy::kLine);
  }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  Moment at_;
  PlaceOptions table_;
  StackOptions stacks_;
};

int SnapshotCommand::Run(const Console& console, OutputBuffer* output) {
  int code = kExitOk;
  const auto read = ReadHeapAt(files_.paths[0], at_, console, &code);
  if (read == nullptr) return code;
  const HeapMoments& replay = *read;
  ThreadFilter threads(table_.thread, &replay.index());
  if (SayNoThread(&threads, TerminalText(files_.paths[0]), console)) {
    return kExitUsage;
  }
  if (table_.format() == TableFormat::kJson) {
    PrintSnapshotJson(replay, table_.limit(), OfThreads(&threads), output);
    return code;
  }
  if (table_.as_text() && !stacks_.collapsed) {
    output->AppendLines(LiveText(replay, 0) + ThreadText(replay, &threads) +
                        ReservedText(replay) + HeapHeading(replay));
  }
  HeapStacks stacks(GroupBy::kLine, &replay);
  stacks.Add(replay.SumsAt(0), OfThreads(&threads));
  stacks_.Print(stacks, table_, output);
  return code;
}

}  // namespace

std::unique_ptr<ReportCommand> NewSnapshotCommand() {
  return std::make_unique<SnapshotCommand>();
}

}  // namespace pymemrun
