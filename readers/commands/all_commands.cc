#include "readers/report/report_command.h"

namespace pymemrun {

// The table of commands: NewXCommand() is in x_command.cc.
#define PYMEMREPORT_COMMANDS(COMMAND) \
  COMMAND(NewAnswerCommand)           \
  COMMAND(NewSummaryCommand)          \
  COMMAND(NewTopCommand)              \
  COMMAND(NewResidentCommand)         \
  COMMAND(NewTimelineCommand)         \
  COMMAND(NewHeapCommand)             \
  COMMAND(NewThreadsCommand)          \
  COMMAND(NewProcessesCommand)        \
  COMMAND(NewTreeCommand)             \
  COMMAND(NewDiffCommand)             \
  COMMAND(NewHistoryCommand)          \
  COMMAND(NewSnapshotCommand)         \
  COMMAND(NewStatsCommand)            \
  COMMAND(NewFlameCommand)            \
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
