#include "readers/report/report_command.h"

namespace pymemrun {

// The table of commands, the usual ones first: NewXCommand() is in
// x_command.cc. A FILE without a command is the first one's.
#define PYMEMREPORT_COMMANDS(COMMAND) \
  COMMAND(NewAnswerCommand)           \
  COMMAND(NewSummaryCommand)          \
  COMMAND(NewThreadsCommand)          \
  COMMAND(NewGilCommand)              \
  COMMAND(NewOffgilCommand)           \
  COMMAND(NewStatesCommand)           \
  COMMAND(NewTasksCommand)            \
  COMMAND(NewProcessesCommand)        \
  COMMAND(NewUnsharedCommand)         \
  COMMAND(NewWatchCommand)            \
  COMMAND(NewCountersCommand)         \
  COMMAND(NewPeaksCommand)            \
  COMMAND(NewCallsCommand)            \
  COMMAND(NewHeapCommand)             \
  COMMAND(NewResidentCommand)         \
  COMMAND(NewFlowCommand)             \
  COMMAND(NewTopCommand)              \
  COMMAND(NewDiffCommand)             \
  COMMAND(NewTreeCommand)             \
  COMMAND(NewFlameCommand)            \
  COMMAND(NewTimelineCommand)         \
  COMMAND(NewGraphCommand)            \
  COMMAND(NewHistoryCommand)          \
  COMMAND(NewSnapshotCommand)         \
  COMMAND(NewStatsCommand)            \
  COMMAND(NewObjectsCommand)          \
  COMMAND(NewExportCommand)

PYMEMRUN_DEFINE_COMMANDS(ReportCommands, PYMEMREPORT_COMMANDS)

}  // namespace pymemrun
