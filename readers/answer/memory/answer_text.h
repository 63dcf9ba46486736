// The answer as a screen of text.
#ifndef PYMEMRUN_READERS_ANSWER_MEMORY_ANSWER_TEXT_H_
#define PYMEMRUN_READERS_ANSWER_MEMORY_ANSWER_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "readers/answer/memory/answer.h"
#include "readers/output/terminal.h"

namespace pymemrun {

// What to do next with this file, or with the next run.
struct NextCommand {
  std::vector<std::string> words;  // as a shell has them
  std::string what;
};

struct AnswerTextOptions {
  Terminal terminal;   // without a width: as for one of 80 columns
  size_t lines = 6;    // of code that are listed
  bool brief = false;  // the sentences and three lines of code, no more
  // Of other processes, and of what else was recorded. Without any, the answer
  // names the reports.
  std::vector<std::string> also;
  std::vector<NextCommand> next;  // three of them are printed
};

// Lines, each ended: at most 40 of them.
std::string AnswerText(const Answer& answer, const AnswerTextOptions& options);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ANSWER_MEMORY_ANSWER_TEXT_H_
