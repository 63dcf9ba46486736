// One-line messages of the launcher on standard error.
#ifndef PYMEMRUN_LAUNCHER_SESSION_MESSAGE_H_
#define PYMEMRUN_LAUNCHER_SESSION_MESSAGE_H_

#include <string>
#include <string_view>

namespace pymemrun {

// Remembers the file of standard error. Call it first in main, before any file
// is opened: if standard error is closed, a new file could get descriptor 2.
void RememberStandardError();

// Writes `text` if descriptor 2 is still the remembered file: a program that
// closed it may have opened its own file there. Ignores errors. Allocates
// nothing, so it is safe in exit handlers.
void WriteToStandardError(std::string_view text);

// Returns "pymemrun: <line>\n", with control characters as \xNN.
std::string MessageText(std::string_view line);

// Writes MessageText(line).
void Say(std::string_view line);

// End of a message that nothing is traced and the program runs.
inline constexpr char kRunsUntraced[] = "; the program runs untraced";

// Text of an errno, with the limit behind it, as "(ulimit -f)".
std::string ErrorText(int error);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_SESSION_MESSAGE_H_
