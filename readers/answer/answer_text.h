// The answer as a screen of text.
#ifndef PYMEMRUN_READERS_ANSWER_ANSWER_TEXT_H_
#define PYMEMRUN_READERS_ANSWER_ANSWER_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "readers/answer/answer.h"
#include "readers/answer/answer_notes.h"
#include "readers/output/terminal.h"

namespace pymemrun {

struct AnswerTextOptions {
  Terminal terminal;      // without a width: as for one of 80 columns
  size_t lines = 6;       // of code that are listed
  bool brief = false;     // the sentences and three lines of code, no more
  std::string file_name;  // in the commands that come next
  // Of other processes, and of what else was recorded. Without any, the answer
  // names the reports.
  std::vector<std::string> also;
  std::vector<NextCommand> next;  // come before those that fit the memory
};

// Lines, each ended: at most 40 of them.
std::string AnswerText(const Answer& answer, const AnswerTextOptions& options);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ANSWER_ANSWER_TEXT_H_
