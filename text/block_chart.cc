#include "text/block_chart.h"

#include <algorithm>

namespace pymemrun {

// The bar ends at an eighth of a column, rounded down, so that a part never
// looks like the whole. ASCII has no parts of a column: there it is rounded.
std::string BlockBar(double share, size_t columns, bool unicode) {
  static constexpr const char* kEighths[] = {"",  "▏", "▎", "▍",
                                             "▌", "▋", "▊", "▉"};
  const double length =
      std::clamp(share, 0.0, 1.0) * static_cast<double>(columns);
  if (!unicode) return std::string(static_cast<size_t>(length + 0.5), '#');
  const auto whole = static_cast<size_t>(length);
  std::string bar;
  for (size_t i = 0; i < whole; ++i) bar += "█";
  return bar + kEighths[static_cast<size_t>(
                   (length - static_cast<double>(whole)) * 8)];
}

// One character per value, by eighths of the largest value. Missing values
// count as 0. A value of 0 is still shown as the lowest block, so that the
// curve has no holes.
std::string BlockCurve(const std::vector<double>& values, size_t count,
                       bool unicode) {
  static constexpr const char* kBlocks[] = {"▁", "▂", "▃", "▄",
                                            "▅", "▆", "▇", "█"};
  static constexpr const char* kAscii[] = {".", ":", "-", "=",
                                           "+", "*", "#", "@"};
  double most = 0;
  for (const double value : values) most = std::max(most, value);
  std::string curve;
  for (size_t i = 0; i < count; ++i) {
    const double value = i < values.size() ? std::max(values[i], 0.0) : 0.0;
    const auto eighths = most > 0 ? static_cast<size_t>(value / most * 8) : 0;
    const size_t height = std::min<size_t>(eighths, 7);
    curve += unicode ? kBlocks[height] : kAscii[height];
  }
  return curve;
}

// A chart of several lines, the top one first. Each value fills its column from
// the bottom: a line takes up to 8 of its eighths, and the rest goes to the
// line above. ASCII rounds to whole lines.
std::vector<std::string> BlockColumns(const std::vector<double>& values,
                                      size_t lines, bool unicode) {
  static constexpr const char* kBlocks[] = {" ", "▁", "▂", "▃", "▄",
                                            "▅", "▆", "▇", "█"};
  double most = 0;
  for (const double value : values) most = std::max(most, value);
  std::vector<std::string> rows(lines);
  for (const double value : values) {
    const double share = most > 0 ? std::max(value, 0.0) / most : 0.0;
    auto eighths =
        static_cast<size_t>(share * 8 * static_cast<double>(lines) + 0.5);
    for (size_t row = lines; row-- > 0;) {
      const size_t part = std::min<size_t>(eighths, 8);
      rows[row] += unicode ? kBlocks[part] : (part >= 4 ? "#" : " ");
      eighths -= part;
    }
  }
  return rows;
}

}  // namespace pymemrun
