// The variables by which each CPython that a process starts is traced.
#ifndef PYMEMRUN_LAUNCHER_PRELOAD_ACTIVATION_H_
#define PYMEMRUN_LAUNCHER_PRELOAD_ACTIVATION_H_

#include <string>
#include <string_view>
#include <vector>

#include "launcher/options/command_line.h"

namespace pymemrun {

// Our part of the command line, without what is for the launcher alone.
std::vector<std::string> WordsFor(const CommandLine& command_line);

// LD_PRELOAD with `object`. The user's own stay. A sanitizer's insists on being
// the first.
std::string PreloadsWith(const std::string& object, std::string_view users);

// What all CPythons of a family are told: these options. Several processes
// write, to `output` unless the options say it, and none of them is asked for a
// report.
std::string HandoverForMany(const CommandLine& command_line,
                            const std::string& output);

// Sets both variables in this process's environment. `shim`: the object that
// finds out which CPython it is in. Run files go to `output`.
void TraceStartedPrograms(const std::string& shim,
                          const CommandLine& command_line,
                          const std::string& output);

// LD_PRELOAD: a list of shared objects, separated by colons or spaces.

inline constexpr char kPreloadVariable[] = "LD_PRELOAD";
inline constexpr char kPreloadSeparators[] = ": ";

// `list` without that object; empty where it is the only one.
std::string PreloadsWithout(std::string_view list, std::string_view object);

// Takes the object out of this process's LD_PRELOAD, and that out of the
// environment where nothing is left. /proc/self/environ shows the same: where a
// text is shorter now, bytes of 0 follow it.
void LeaveOutOfPreloads(const std::string& object);

// Puts another object in the place of this one there.
void ExchangeInPreloads(const std::string& object, const std::string& other);

// Takes a variable out in the same way.
void ForgetVariable(const char* name);

// What the tracer that is preloaded into another interpreter is told: by a
// variable of the environment.

inline constexpr char kHandoverVariable[] = "PYMEMRUN_PRELOADED";

struct Handover {
  // Whether it is for one process, which removes what it was told by. Else it
  // stays, for the processes that this one starts.
  bool once = true;
  std::vector<std::string> options;  // of pymemrun, as words
};

// A text without NUL, whatever bytes are in the options.
std::string HandoverText(const Handover& handover);

// Reads it. False: it is no such text.
bool ReadHandoverText(std::string_view text, Handover* handover);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_PRELOAD_ACTIVATION_H_
