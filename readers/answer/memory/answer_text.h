// The answer as a screen of text.
#ifndef PYMEMRUN_READERS_ANSWER_MEMORY_ANSWER_TEXT_H_
#define PYMEMRUN_READERS_ANSWER_MEMORY_ANSWER_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "format/source/source_code.h"
#include "readers/answer/memory/answer.h"
#include "readers/output/terminal.h"
#include "readers/run/run_index.h"

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

// The source text of lines that a run names, where these are as they were.

// Not thread safe; the index must outlive it.
class SourceText {
 public:
  // Relative names are of `folder`. Of lines without a hash in the run, files
  // that changed after `last_ns` (CLOCK_REALTIME) have no text.
  SourceText(const RunIndex* index, std::string folder, uint64_t last_ns)
      : index_(*index), folder_(std::move(folder)), last_ns_(last_ns) {}
  // The line without its indentation; empty where it cannot be told.
  std::string Line(absl::string_view file, uint32_t line);
  // The first file that is gone, or that changed since, of the lines asked for;
  // empty: none.
  const std::string& first_changed() const { return first_changed_; }

 private:
  // Nothing where the line is not as it was.
  std::optional<std::string> Find(absl::string_view file, uint32_t line);

  const RunIndex& index_;
  const std::string folder_;
  const uint64_t last_ns_;
  std::map<std::string, std::optional<SourceCode>> files_;
  std::string first_changed_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ANSWER_MEMORY_ANSWER_TEXT_H_
