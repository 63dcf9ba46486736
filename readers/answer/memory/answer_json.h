// The answer for programs: `pymemreport report --json`.
#ifndef PYMEMRUN_READERS_ANSWER_MEMORY_ANSWER_JSON_H_
#define PYMEMRUN_READERS_ANSWER_MEMORY_ANSWER_JSON_H_

#include <string>

#include "readers/answer/memory/answer.h"

namespace pymemrun {

// One object, ended by a line end: `script`, `duration_s`, `peak` and `end`. A
// moment has `time_s`, `rss_bytes`, `parts` in bytes, which add up to it, and
// `places`, most bytes first: those of your code, and of none, with bytes that
// are known and one standard error of them. Bytes are whole numbers. What is
// not known is null.
std::string AnswerJson(const Answer& answer);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ANSWER_MEMORY_ANSWER_JSON_H_
