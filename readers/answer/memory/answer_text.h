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

// A suggested command for this file, or for the next run.
struct NextCommand {
  std::vector<std::string> words;  // quoted for a shell
  std::string what;
};

// How AnswerText() prints.
struct AnswerTextOptions {
  Terminal terminal;   // without a width: 80 columns
  size_t lines = 6;    // number of lines of code listed
  bool brief = false;  // only the sentences, and three lines of code
  // Sentences on other processes and on what else was recorded. If there are
  // none, the answer names the reports.
  std::vector<std::string> also;
  std::vector<NextCommand> next;  // at most three are printed
};

// Lines, each ended, at most 40.
std::string AnswerText(const Answer& answer, const AnswerTextOptions& options);

// The source text of lines in a run, if they have not changed since. Not thread
// safe. The index must outlive it.
class SourceText {
 public:
  // Relative names are relative to `folder`. If the run has no hash of a line,
  // and its file changed after `last_ns` (CLOCK_REALTIME), the text is unknown.
  SourceText(const RunIndex* index, std::string folder, uint64_t last_ns)
      : index_(*index), folder_(std::move(folder)), last_ns_(last_ns) {}
  // The line without indentation; empty if it is unknown.
  std::string Line(absl::string_view file, uint32_t line);
  // The first file, of the lines requested, that is missing or has changed;
  // empty: none.
  const std::string& first_changed() const { return first_changed_; }

 private:
  // Returns nothing if the line has changed.
  std::optional<std::string> Find(absl::string_view file, uint32_t line);

  const RunIndex& index_;
  const std::string folder_;
  const uint64_t last_ns_;
  std::map<std::string, std::optional<SourceCode>> files_;
  std::string first_changed_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ANSWER_MEMORY_ANSWER_TEXT_H_
