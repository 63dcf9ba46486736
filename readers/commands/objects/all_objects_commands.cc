#include "readers/commands/objects/objects_command.h"

namespace pymemrun {

// The table of commands: NewObjectsXCommand() is in x_command.cc. A FILE
// without a command is the first one's.
#define PYMEMOBJ_COMMANDS(COMMAND)     \
  COMMAND(NewObjectsSummaryCommand)    \
  COMMAND(NewObjectsSuspectsCommand)   \
  COMMAND(NewObjectsPathCommand)       \
  COMMAND(NewObjectsListCommand)       \
  COMMAND(NewObjectsShowCommand)       \
  COMMAND(NewObjectsWhatIfCommand)     \
  COMMAND(NewObjectsDominatorsCommand) \
  COMMAND(NewObjectsDuplicatesCommand) \
  COMMAND(NewObjectsCyclesCommand)     \
  COMMAND(NewObjectsDiffCommand)       \
  COMMAND(NewObjectsQueryCommand)      \
  COMMAND(NewObjectsExportCommand)     \
  COMMAND(NewObjectsIndexCommand)

PYMEMRUN_DEFINE_COMMANDS(ObjectsCommands, PYMEMOBJ_COMMANDS)

}  // namespace pymemrun
