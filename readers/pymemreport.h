// The program pymemreport, apart from main(): summary and top.
#ifndef PYMEMRUN_READERS_PYMEMREPORT_H_
#define PYMEMRUN_READERS_PYMEMREPORT_H_

#include <string>
#include <vector>

#include "readers/call_profile.h"
#include "readers/command_line.h"
#include "readers/table.h"

namespace pymemrun {

// Runs it with `arguments` (without the program's name); returns the exit code.
int RunPymemreport(const std::vector<std::string>& arguments,
                   const Console& console);

// The table of `pymemreport top`: the places, most growth first, at most
// `limit` of them (0: all), and below them what tracing itself costs: the
// resident memory of the tracer, 0 where it is not known. `share` is a place's
// part of the growth at all places; tracing itself has none.
Table TopTable(const ProfileTable& profile, uint64_t limit, uint64_t own_bytes);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PYMEMREPORT_H_
