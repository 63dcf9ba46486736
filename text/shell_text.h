// Names in commands that people paste into a shell.
#ifndef PYMEMRUN_TEXT_SHELL_TEXT_H_
#define PYMEMRUN_TEXT_SHELL_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace pymemrun {

// One word of bash and zsh, which is harmless for a terminal: as it is where
// that will do, else quoted. No option either.
std::string ShellWord(absl::string_view name);
// Likewise any argument of a command: one that begins with - stays an option.
std::string ShellArgument(absl::string_view argument);

}  // namespace pymemrun

#endif  // PYMEMRUN_TEXT_SHELL_TEXT_H_
