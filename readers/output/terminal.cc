#include "readers/output/terminal.h"

#include <limits.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "text/fitted_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

absl::string_view Variable(const char* name) {
  const char* const value = getenv(name);
  return value == nullptr ? "" : value;
}

// 0: neither the user nor the terminal sets a width.
size_t ColumnsFor(int fd) {
  uint32_t columns = 0;
  if (absl::SimpleAtoi(Variable("COLUMNS"), &columns) && columns > 0) {
    return columns;
  }
  if (isatty(fd) == 0) return 0;
  winsize size = {};
  if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
    return Terminal::kUsualColumns;
  }
  return size.ws_col;
}

// Whether the locale's charset is UTF-8.
bool TakesUnicode() {
  for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const absl::string_view locale = Variable(name);
    if (locale.empty()) continue;
    return !absl::StrContains(locale, '.') ||
           absl::StrContains(absl::AsciiStrToLower(locale), "utf");
  }
  return true;
}

// The longest prefix that fits into `columns`.
absl::string_view Prefix(absl::string_view text, size_t columns) {
  size_t bytes = 0;
  while (bytes < text.size()) {
    const Rune rune = FirstRune(text.substr(bytes));
    if (columns-- == 0) break;
    bytes += rune.size;
  }
  return text.substr(0, bytes);
}

// NO_COLOR is a convention of many tools, see no-color.org.
bool HasColors(int fd, ColorMode mode) {
  if (mode != ColorMode::kAuto) return mode == ColorMode::kAlways;
  return isatty(fd) != 0 && Variable("NO_COLOR").empty() &&
         Variable("TERM") != "dumb";
}

}  // namespace

Terminal Terminal::Of(int fd, ColorMode colors) {
  Terminal terminal;
  terminal.columns = ColumnsFor(fd);
  if (terminal.fits()) {
    terminal.columns = std::max(terminal.columns, kFewestColumns);
    char folder[PATH_MAX];
    if (getcwd(folder, sizeof(folder)) != nullptr) terminal.folder = folder;
  }
  terminal.unicode = TakesUnicode();
  terminal.colors = HasColors(fd, colors);
  return terminal;
}

std::string Terminal::Bold(absl::string_view text) const {
  return colors ? absl::StrCat("\x1b[1m", text, "\x1b[0m") : std::string(text);
}

std::string Terminal::Bar(absl::string_view text) const {
  return colors && !text.empty() ? absl::StrCat("\x1b[36m", text, "\x1b[0m")
                                 : std::string(text);
}

std::string Terminal::Wrapped(absl::string_view text, size_t indent) const {
  if (!fits()) return std::string(text);
  std::string wrapped;
  for (const absl::string_view line :
       absl::StrSplit(absl::StripSuffix(text, "\n"), '\n')) {
    size_t used = 0;
    for (absl::string_view word : UnbrokenWords(line)) {
      const size_t width = ColumnsOf(word);
      if (used > indent && used + 1 + width > columns) {
        absl::StrAppend(&wrapped, "\n", std::string(indent, ' '));
        used = indent;
      } else if (word.data() != line.data()) {
        wrapped += ' ';
        ++used;
      }
      // A word longer than a line, such as a path.
      for (; used + ColumnsOf(word) > columns; used = indent) {
        const absl::string_view part = Prefix(word, columns - used);
        absl::StrAppend(&wrapped, part, "\n", std::string(indent, ' '));
        word.remove_prefix(part.size());
      }
      wrapped.append(word.data(), word.size());
      used += ColumnsOf(word);
    }
    wrapped += '\n';
  }
  return text.empty() ? "" : wrapped;
}

}  // namespace pymemrun
