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

// Lines, each ended, without spaces at their ends. They fit the terminal, or
// else one of 80 columns. Not thread safe; the terminal must outlive it.
class ScreenText {
 public:
  explicit ScreenText(const Terminal* terminal);

  // Of a line.
  size_t columns() const { return columns_; }
  const Terminal& terminal() const { return terminal_; }

  // As it is. REQUIRES: there is room for it.
  void Line(absl::string_view line = "");
  void Heading(absl::string_view line) { Line(terminal_.Bold(line)); }
  // Words, broken at spaces; those that no line can hold are cut. `headline`:
  // what it begins with is one.
  void Paragraph(absl::string_view words, absl::string_view headline = "");
  // A command to be pasted, and what it is for where there is room for that.
  // Its words, which are a shell's, stay whole; its lines go on as a shell's.
  void Command(const std::vector<std::string>& words, absl::string_view what);

  std::string Take() { return std::move(text_); }

 private:
  const Terminal& terminal_;
  const size_t columns_;
  std::string text_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OUTPUT_SCREEN_TEXT_H_
