// Quotes names for commands that people paste into a shell.
#ifndef PYMEMRUN_TEXT_SHELL_TEXT_H_
#define PYMEMRUN_TEXT_SHELL_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace pymemrun {

// One word for bash and zsh, safe for a terminal: quoted only if needed, and
// never taken for an option.
std::string ShellWord(absl::string_view name);
// The same for any argument: one that starts with - stays an option.
std::string ShellArgument(absl::string_view argument);

}  // namespace pymemrun

#endif  // PYMEMRUN_TEXT_SHELL_TEXT_H_
