// Text for people to read on a terminal: headings, paragraphs, commands.
#ifndef PYMEMRUN_READERS_OUTPUT_SCREEN_TEXT_H_
#define PYMEMRUN_READERS_OUTPUT_SCREEN_TEXT_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "readers/output/terminal.h"

namespace pymemrun {

// Builds lines, each ended, without trailing spaces. They fit the terminal, or
// 80 columns if it has no width. Not thread safe. The terminal must outlive it.
class ScreenText {
 public:
  explicit ScreenText(const Terminal* terminal);

  // The width of a line.
  size_t columns() const { return columns_; }
  const Terminal& terminal() const { return terminal_; }

  // Adds a line unchanged. REQUIRES: it fits.
  void Line(absl::string_view line = "");
  void Heading(absl::string_view line) { Line(terminal_.Bold(line)); }
  // Adds words, broken at spaces; words longer than a line are cut. `headline`:
  // the part at the start to print as a heading.
  void Paragraph(absl::string_view words, absl::string_view headline = "");
  // Adds a command to paste, and its purpose if it fits. Words are quoted for a
  // shell, and never broken; long commands continue as in a shell.
  void Command(const std::vector<std::string>& words, absl::string_view what);

  std::string Take() { return std::move(text_); }

 private:
  const Terminal& terminal_;
  const size_t columns_;
  std::string text_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OUTPUT_SCREEN_TEXT_H_
