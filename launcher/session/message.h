// One-line messages of the launcher on standard error.
#ifndef PYMEMRUN_LAUNCHER_SESSION_MESSAGE_H_
#define PYMEMRUN_LAUNCHER_SESSION_MESSAGE_H_

#include <string>
#include <string_view>

namespace pymemrun {

// Remembers which file standard error is. Called first in main, before
// anything is opened: a descriptor of ours could take the number 2 of a
// standard error that is closed.
void RememberStandardError();

// Writes `text` as it is, if descriptor 2 is still the file remembered: a
// program that closed it may have opened a file of its own there. Errors are
// ignored. Safe in exit handlers: no allocation.
void WriteToStandardError(std::string_view text);

// "pymemrun: <line>\n", control characters as \xNN.
std::string MessageText(std::string_view line);

// Writes that.
void Say(std::string_view line);

// The end of a line that says why nothing is traced, where the program goes on.
inline constexpr char kRunsUntraced[] = "; the program runs untraced";

// Of an errno, with the limit that it stands for.
std::string ErrorText(int error);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_SESSION_MESSAGE_H_
