#include "readers/output/screen_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "text/fitted_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Wider lines are hard to read.
constexpr size_t kMostColumns = 120;

}  // namespace

ScreenText::ScreenText(const Terminal* terminal)
    : terminal_(*terminal),
      columns_(terminal->fits()
                   ? std::clamp(terminal->columns, Terminal::kFewestColumns,
                                kMostColumns)
                   : Terminal::kUsualColumns) {}

void ScreenText::Line(absl::string_view line) {
  while (!line.empty() && line.back() == ' ') line.remove_suffix(1);
  absl::StrAppend(&text_, line, "\n");
}

// The headline is marked up last: escape sequences would count as columns.
void ScreenText::Paragraph(absl::string_view words,
                           absl::string_view headline) {
  const size_t begin = text_.size();
  std::string line;
  for (const absl::string_view whole : UnbrokenWords(words)) {
    const std::string word = CutLabel(whole, columns_, terminal_.unicode);
    if (!line.empty() && ColumnsOf(line) + 1 + ColumnsOf(word) > columns_) {
      Line(line);
      line.clear();
    }
    absl::StrAppend(&line, line.empty() ? "" : " ", word);
  }
  if (!line.empty()) Line(line);
  // Unless a line ends within it.
  if (absl::string_view(text_).substr(begin, headline.size()) == headline &&
      !headline.empty()) {
    text_.replace(begin, headline.size(), terminal_.Bold(headline));
  }
}

// The comment is left out if it does not fit the line of the command.
void ScreenText::Command(const std::vector<std::string>& words,
                         absl::string_view what) {
  const std::string whole =
      absl::StrCat(absl::StrJoin(words, " "), "   # ", what);
  if (ColumnsOf(whole) <= columns_) return Line(whole);
  constexpr size_t kGoesOn = 2;  // " \"
  std::string line;
  for (const std::string& word : words) {
    const size_t end = &word == &words.back() ? 0 : kGoesOn;
    if (!line.empty() &&
        ColumnsOf(line) + 1 + ColumnsOf(word) + end > columns_) {
      Line(line + " \\");
      line.assign(1, ' ');
    }
    absl::StrAppend(&line, line.empty() ? "" : " ", word);
  }
  Line(line);
}

}  // namespace pymemrun
