// The answer as a screen of text.
#ifndef PYMEMRUN_READERS_ANSWER_ANSWER_TEXT_H_
#define PYMEMRUN_READERS_ANSWER_ANSWER_TEXT_H_

#include <cstddef>
#include <string>

#include "readers/answer/answer.h"

namespace pymemrun {

struct AnswerTextOptions {
  size_t columns = 80;    // at least 40
  size_t lines = 6;       // of code that are listed
  bool brief = false;     // the sentences and three lines of code, no more
  bool unicode = true;    // bars and curves of block characters
  std::string file_name;  // in the commands that come next
};

// Lines, each ended: at most 40 of them.
std::string AnswerText(const Answer& answer, const AnswerTextOptions& options);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ANSWER_ANSWER_TEXT_H_
