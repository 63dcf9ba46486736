// The program pymemobj, apart from main(): what is in a dump of the object
// graph.
#ifndef PYMEMRUN_READERS_OBJECTS_COMMANDS_PYMEMOBJ_H_
#define PYMEMRUN_READERS_OBJECTS_COMMANDS_PYMEMOBJ_H_

#include <string>
#include <vector>

#include "readers/run/console.h"

namespace pymemrun {

// Runs it with `arguments` (without the program's name); returns the exit code.
int RunPymemobj(const std::vector<std::string>& arguments,
                const Console& console);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_COMMANDS_PYMEMOBJ_H_
