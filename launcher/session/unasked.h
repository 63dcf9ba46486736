// Defaults that are switched off where they would harm the program.
#ifndef PYMEMRUN_LAUNCHER_SESSION_UNASKED_H_
#define PYMEMRUN_LAUNCHER_SESSION_UNASKED_H_

#include <string>

#include "launcher/options/options.h"

namespace pymemrun {

// Removes from `options` what the user did not ask for and this process cannot
// bear:
//   - page faults under a debugger, which would stop at each page signal: pages
//     are scanned instead;
//   - pages under a preloaded sanitizer, whose shadow is terabytes of reserved
//     memory;
//   - page and heap events if the address space is short.
// Returns what is not recorded and why; empty: nothing was removed.
std::string LeaveOutUnasked(Options* options);

// Returns null if the limits on address space and data leave room for the
// tracer beside a small interpreter. Otherwise the reason: the program would
// fail because of the tracer.
const char* WhyNoRoom();
// Whether there is so little room that a plain interpreter may start where this
// program, some MiB larger, cannot.
bool FitsPlainPythonOnly();

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_SESSION_UNASKED_H_
