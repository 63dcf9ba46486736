// What text is printed for: a terminal's width, its characters and colours.
#ifndef PYMEMRUN_READERS_OUTPUT_TERMINAL_H_
#define PYMEMRUN_READERS_OUTPUT_TERMINAL_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace pymemrun {

enum class ColorMode { kAuto, kAlways, kNever };

// As it is, output that no terminal shows: lines as long as they are, paths
// whole, no colours, for scripts.
struct Terminal {
  static constexpr size_t kUsualColumns = 80;
  static constexpr size_t kFewestColumns = 40;

  size_t columns = 0;  // 0: lines may be of any length
  bool unicode = true;
  bool colors = false;
  std::string folder;  // paths below it are shown from there

  // Of what `fd` writes to. $COLUMNS goes before what a terminal says.
  // $NO_COLOR and a dumb terminal have no colours, unless these are asked for.
  static Terminal Of(int fd, ColorMode colors = ColorMode::kAuto);
  bool fits() const { return columns != 0; }

  // Where there are colours.
  std::string Bold(absl::string_view text) const;
  std::string Bar(absl::string_view text) const;
  // Lines, each ended, broken at spaces where they are too long. What continues
  // a line is indented by so many columns.
  std::string Wrapped(absl::string_view text, size_t indent = 2) const;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OUTPUT_TERMINAL_H_
