// main() of programs of several commands: pymemreport, pymemobj.
#ifndef PYMEMRUN_READERS_REPORT_PROGRAM_MAIN_H_
#define PYMEMRUN_READERS_REPORT_PROGRAM_MAIN_H_

#include <string>
#include <vector>

namespace pymemrun {

struct Console;

// A program without its main(). Runs it with `arguments` (without its name) and
// returns the exit code.
using Program = int(const std::vector<std::string>& arguments,
                    const Console& console);
// All that its main() does.
int ProgramMain(const char* name, int argc, char** argv, Program* run);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPORT_PROGRAM_MAIN_H_
