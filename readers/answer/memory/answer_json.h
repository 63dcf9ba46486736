// The answer for programs: `pymemreport report --json`.
#ifndef PYMEMRUN_READERS_ANSWER_MEMORY_ANSWER_JSON_H_
#define PYMEMRUN_READERS_ANSWER_MEMORY_ANSWER_JSON_H_

#include <string>

#include "readers/answer/memory/answer.h"

namespace pymemrun {

// A JSON object, ended by a line end, with `script`, `duration_s`, `peak` and
// `end`. A moment has `time_s`, `rss_bytes`, `parts` and `places`. The parts
// are bytes that add up to rss_bytes. Places are lines of your code, and the
// rest, most bytes first. Each has its known bytes and one standard error.
// Bytes are whole numbers. Unknown values are null.
std::string AnswerJson(const Answer& answer);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ANSWER_MEMORY_ANSWER_JSON_H_
