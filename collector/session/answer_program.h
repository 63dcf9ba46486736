// Asks pymemreport for the first lines of the answer, for the end report.
#ifndef PYMEMRUN_COLLECTOR_SESSION_ANSWER_PROGRAM_H_
#define PYMEMRUN_COLLECTOR_SESSION_ANSWER_PROGRAM_H_

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"

namespace pymemrun {

// A larger file takes too long to read.
inline constexpr uint64_t kMostAnsweredBytes = 4 << 20;

// What `program report --brief` prints of the run file that is open as
// `file_fd`, in so many columns: whole lines, harmless for terminals. Empty: it
// failed, took too long, or was not asked, as the file is large or no file.
// Waits `most_ms` at most, and calls `beat` meanwhile, each 50 ms. When memory
// runs out, the program is killed first.
std::string AskForAnswer(const std::string& program, int file_fd, int columns,
                         int most_ms, absl::FunctionRef<void()> beat);

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_SESSION_ANSWER_PROGRAM_H_
