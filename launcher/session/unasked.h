// What is recorded unless somebody says otherwise, and when it is better left
// out.
#ifndef PYMEMRUN_LAUNCHER_SESSION_UNASKED_H_
#define PYMEMRUN_LAUNCHER_SESSION_UNASKED_H_

#include <string>

#include "launcher/options/options.h"

namespace pymemrun {

// Takes out of `options` what nobody asked for and this process cannot bear:
//   - page faults under a debugger, which would stop at each page signal: pages
//     are scanned;
//   - pages under a preloaded sanitizer, whose shadow is terabytes of reserved
//     memory;
//   - page and heap events where the address space is short.
// Empty, or what is not recorded therefore, and why.
std::string LeaveOutUnasked(Options* options);

// Null where the limits on address space and data leave room for the tracer
// beside an interpreter that does little; else why not: the program would fail
// for us.
const char* WhyNoRoom();
// Whether it leaves so little that a plain interpreter may start where this
// program, which is larger by some MiB, does not.
bool FitsPlainPythonOnly();

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_SESSION_UNASKED_H_
