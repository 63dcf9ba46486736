// What text is printed for: the width of a terminal, its characters and
// colours.
#ifndef PYMEMRUN_READERS_OUTPUT_TERMINAL_H_
#define PYMEMRUN_READERS_OUTPUT_TERMINAL_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace pymemrun {

enum class ColorMode { kAuto, kAlways, kNever };

// The default is for output that is not a terminal, such as scripts read: lines
// of any length, whole paths, no colours.
struct Terminal {
  // The width if it is unknown, and the least that is used.
  static constexpr size_t kUsualColumns = 80;
  static constexpr size_t kFewestColumns = 40;

  size_t columns = 0;  // 0: lines of any length
  bool unicode = true;
  bool colors = false;
  std::string folder;  // paths below it are shown relative to it

  // The terminal that `fd` writes to. $COLUMNS overrides its width. $NO_COLOR,
  // or a dumb terminal, disables colours unless they are requested.
  static Terminal Of(int fd, ColorMode colors = ColorMode::kAuto);
  bool fits() const { return columns != 0; }

  // Marks up the text if there are colours.
  std::string Bold(absl::string_view text) const;
  std::string Bar(absl::string_view text) const;
  // Breaks lines, each ended, at spaces where they are too long. Continued
  // lines are indented by `indent` columns.
  std::string Wrapped(absl::string_view text, size_t indent = 2) const;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OUTPUT_TERMINAL_H_
