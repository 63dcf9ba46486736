#include "readers/report/report_command.h"

namespace pymemrun {

// The table of commands, those that most users look for first: NewXCommand() is
// in x_command.cc. A FILE without a command is the first one's.
#define PYMEMREPORT_COMMANDS(COMMAND) \
  COMMAND(NewAnswerCommand)           \
  COMMAND(NewWatchCommand)            \
  COMMAND(NewHeapCommand)             \
  COMMAND(NewFlameCommand)            \
  COMMAND(NewTimelineCommand)         \
  COMMAND(NewTopCommand)              \
  COMMAND(NewPeaksCommand)            \
  COMMAND(NewThreadsCommand)          \
  COMMAND(NewProcessesCommand)        \
  COMMAND(NewDiffCommand)             \
  COMMAND(NewGilCommand)              \
  COMMAND(NewTasksCommand)            \
  COMMAND(NewSummaryCommand)          \
  COMMAND(NewTreeCommand)             \
  COMMAND(NewResidentCommand)         \
  COMMAND(NewGraphCommand)            \
  COMMAND(NewHistoryCommand)          \
  COMMAND(NewCallsCommand)            \
  COMMAND(NewFlowCommand)             \
  COMMAND(NewSnapshotCommand)         \
  COMMAND(NewStatsCommand)            \
  COMMAND(NewCountersCommand)         \
  COMMAND(NewStatesCommand)           \
  COMMAND(NewOffgilCommand)           \
  COMMAND(NewUnsharedCommand)         \
  COMMAND(NewObjectsCommand)          \
  COMMAND(NewQueryCommand)            \
  COMMAND(NewTablesCommand)           \
  COMMAND(NewExportCommand)

PYMEMRUN_DEFINE_COMMANDS(ReportCommands, PYMEMREPORT_COMMANDS)

}  // namespace pymemrun
