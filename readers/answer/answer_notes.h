// What the answer says in words below its tables, and the names of its parts.
#ifndef PYMEMRUN_READERS_ANSWER_ANSWER_NOTES_H_
#define PYMEMRUN_READERS_ANSWER_ANSWER_NOTES_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "readers/answer/answer.h"

namespace pymemrun {

// Of a moment's RSS, as they are shown; those that are nothing are left out.
std::vector<std::pair<absl::string_view, double>> PartsOf(
    const MemorySplit& split, const Answer& answer);

// What is still there at the end, by the same parts: each byte is in one of
// them. Empty: RSS is not known. `name_of`: for a terminal.
std::string StillThere(const Answer& answer,
                       const std::function<std::string(const Place&)>& name_of);

// Which lines of a forked process's parent had what it inherited; empty: there
// are none, or they are not known.
std::string InheritedText(
    const Answer& answer,
    const std::function<std::string(const Place&)>& name_of);

// That events were lost; empty: none were.
std::string LossText(const Answer& answer);

// That there is no end, and what was not recorded.
std::vector<std::string> Remarks(const Answer& answer);

// The commands for what else was recorded, on a line; empty: nothing was.
std::string AlsoRecorded(const Answer& answer);

// What tells more of this file: pymemreport `command` FILE `options`.
struct NextCommand {
  std::string command;
  std::vector<std::string> options;
  std::string what;
};
std::vector<NextCommand> NextCommands(const Answer& answer);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ANSWER_ANSWER_NOTES_H_
