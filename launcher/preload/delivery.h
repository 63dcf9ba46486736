// Runs an interpreter that is no part of pymemrun, with the tracer preloaded.
#ifndef PYMEMRUN_LAUNCHER_PRELOAD_DELIVERY_H_
#define PYMEMRUN_LAUNCHER_PRELOAD_DELIVERY_H_

#include <string>

#include "launcher/options/command_line.h"
#include "launcher/python/python_choice.h"

namespace pymemrun {

// Why nothing can be preloaded into the program at `file`; empty: it can.
std::string WhyNotPreloadable(const std::string& file);

// Executes the python with its part of the command line. The tracer in it does
// what the rest says. Without `traced` nothing is preloaded. Returns only where
// it cannot be executed, with one line that says why.
std::string RunPreloaded(const PythonChoice& choice,
                         const CommandLine& command_line, bool traced);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_PRELOAD_DELIVERY_H_
