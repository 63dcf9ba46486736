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
  COMMAND(NewCallsCommand)            \
  COMMAND(NewThreadsCommand)          \
  COMMAND(NewProcessesCommand)        \
  COMMAND(NewDiffCommand)             \
  COMMAND(NewGilCommand)              \
  COMMAND(NewTasksCommand)            \
  COMMAND(NewSummaryCommand)          \
  COMMAND(NewResidentCommand)         \
  COMMAND(NewStatesCommand)           \
  COMMAND(NewUnsharedCommand)         \
  COMMAND(NewObjectsCommand)          \
  COMMAND(NewQueryCommand)            \
  COMMAND(NewExportCommand)

PYMEMRUN_DEFINE_COMMANDS(ReportCommands, PYMEMREPORT_COMMANDS)

}  // namespace pymemrun
