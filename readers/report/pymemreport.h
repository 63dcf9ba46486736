// The program pymemreport, apart from main(): summary and top.
#ifndef PYMEMRUN_READERS_REPORT_PYMEMREPORT_H_
#define PYMEMRUN_READERS_REPORT_PYMEMREPORT_H_

#include <string>
#include <vector>

#include "readers/run/console.h"

namespace pymemrun {

// Runs it with `arguments` (without the program's name); returns the exit code.
int RunPymemreport(const std::vector<std::string>& arguments,
                   const Console& console);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPORT_PYMEMREPORT_H_
