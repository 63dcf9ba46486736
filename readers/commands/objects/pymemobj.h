// The program pymemobj, apart from main(): what is in a dump of the object
// graph.
#ifndef PYMEMRUN_READERS_COMMANDS_OBJECTS_PYMEMOBJ_H_
#define PYMEMRUN_READERS_COMMANDS_OBJECTS_PYMEMOBJ_H_

#include "readers/report/program_main.h"

namespace pymemrun {

Program RunPymemobj;

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_COMMANDS_OBJECTS_PYMEMOBJ_H_
