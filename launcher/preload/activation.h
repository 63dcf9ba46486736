// Environment variables that make each CPython started by a process traced.
#ifndef PYMEMRUN_LAUNCHER_PRELOAD_ACTIVATION_H_
#define PYMEMRUN_LAUNCHER_PRELOAD_ACTIVATION_H_

#include <string>
#include <string_view>
#include <vector>

#include "launcher/options/command_line.h"

namespace pymemrun {

// Options of pymemrun from the command line, without those for the launcher
// only.
std::vector<std::string> WordsFor(const CommandLine& command_line);

// Returns LD_PRELOAD with `object` added to the objects of the user. A
// sanitizer must stay first.
std::string PreloadsWith(const std::string& object, std::string_view users);

// Returns the handover for several CPythons: these options. They write to
// `output` unless an option says otherwise, and print no end report.
std::string HandoverForMany(const CommandLine& command_line,
                            const std::string& output);

// Sets both variables in the environment of this process. `shim` is the object
// that finds out in which CPython it is. Run files go to `output`.
void TraceStartedPrograms(const std::string& shim,
                          const CommandLine& command_line,
                          const std::string& output);

// LD_PRELOAD is a list of shared objects, separated by colons or spaces.

inline constexpr char kPreloadVariable[] = "LD_PRELOAD";
inline constexpr char kPreloadSeparators[] = ": ";

// Returns `list` without `object`; empty if it is the only one.
std::string PreloadsWithout(std::string_view list, std::string_view object);

// Removes the object from LD_PRELOAD of this process, and the variable if
// nothing is left. /proc/self/environ shows the same: zero bytes follow a
// shorter text.
void LeaveOutOfPreloads(const std::string& object);

// Replaces the object in LD_PRELOAD by another one.
void ExchangeInPreloads(const std::string& object, const std::string& other);

// Removes a variable in the same way.
void ForgetVariable(const char* name);

// Variable with the options for a tracer that is preloaded into another
// interpreter.

inline constexpr char kHandoverVariable[] = "PYMEMRUN_PRELOADED";

struct Handover {
  // True: for one process, which removes the variable. False: it stays for
  // processes that this one starts.
  bool once = true;
  std::vector<std::string> options;  // options of pymemrun
};

// Returns the handover as a text without NUL, for any bytes in the options.
std::string HandoverText(const Handover& handover);

// Parses the text. Returns false if it is not a handover.
bool ReadHandoverText(std::string_view text, Handover* handover);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_PRELOAD_ACTIVATION_H_
