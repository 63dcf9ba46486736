#include "readers/objects_commands/objects_command.h"

namespace pymemrun {

// The table of commands: NewObjectsXCommand() is in x_command.cc. A FILE
// without a command is the first one's.
#define PYMEMOBJ_COMMANDS(COMMAND)     \
  COMMAND(NewObjectsSummaryCommand)    \
  COMMAND(NewObjectsSuspectsCommand)   \
  COMMAND(NewObjectsPathCommand)       \
  COMMAND(NewObjectsListCommand)       \
  COMMAND(NewObjectsShowCommand)       \
  COMMAND(NewObjectsParentsCommand)    \
  COMMAND(NewObjectsChildrenCommand)   \
  COMMAND(NewObjectsRefsCommand)       \
  COMMAND(NewObjectsRetainedCommand)   \
  COMMAND(NewObjectsWhatIfCommand)     \
  COMMAND(NewObjectsDominatorsCommand) \
  COMMAND(NewObjectsTreemapCommand)    \
  COMMAND(NewObjectsDuplicatesCommand) \
  COMMAND(NewObjectsCyclesCommand)     \
  COMMAND(NewObjectsCollapseCommand)   \
  COMMAND(NewObjectsDiffCommand)       \
  COMMAND(NewObjectsQueryCommand)      \
  COMMAND(NewObjectsExportCommand)     \
  COMMAND(NewObjectsIndexCommand)

PYMEMRUN_DEFINE_COMMANDS(ObjectsCommands, PYMEMOBJ_COMMANDS)

}  // namespace pymemrun
