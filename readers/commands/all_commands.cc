#include "readers/report/report_command.h"

namespace pymemrun {

// The table of commands, the usual ones first: NewXCommand() is in
// x_command.cc. A FILE without a command is the first one's.
#define PYMEMREPORT_COMMANDS(COMMAND) \
  COMMAND(NewAnswerCommand)           \
  COMMAND(NewSummaryCommand)          \
  COMMAND(NewThreadsCommand)          \
  COMMAND(NewProcessesCommand)        \
  COMMAND(NewUnsharedCommand)         \
  COMMAND(NewWatchCommand)            \
  COMMAND(NewPeaksCommand)            \
  COMMAND(NewCallsCommand)            \
  COMMAND(NewFlowCommand)             \
  COMMAND(NewHeapCommand)             \
  COMMAND(NewResidentCommand)         \
  COMMAND(NewTopCommand)              \
  COMMAND(NewDiffCommand)             \
  COMMAND(NewTreeCommand)             \
  COMMAND(NewFlameCommand)            \
  COMMAND(NewTimelineCommand)         \
  COMMAND(NewGraphCommand)            \
  COMMAND(NewHistoryCommand)          \
  COMMAND(NewSnapshotCommand)         \
  COMMAND(NewStatsCommand)            \
  COMMAND(NewExportCommand)

#define DECLARE(name) std::unique_ptr<ReportCommand> name();
PYMEMREPORT_COMMANDS(DECLARE)

std::vector<std::unique_ptr<ReportCommand>> ReportCommands() {
  std::vector<std::unique_ptr<ReportCommand>> commands;
#define MAKE(name) commands.push_back(name());
  PYMEMREPORT_COMMANDS(MAKE)
  return commands;
}

}  // namespace pymemrun
