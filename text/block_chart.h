// Small charts of block characters, for terminals.
#ifndef PYMEMRUN_TEXT_BLOCK_CHART_H_
#define PYMEMRUN_TEXT_BLOCK_CHART_H_

#include <cstddef>
#include <string>
#include <vector>

namespace pymemrun {

// A bar for `share` (0 to 1) of `columns`. Without `unicode`: plain ASCII.
std::string BlockBar(double share, size_t columns, bool unicode);

// A curve of the first `count` values, one column each; the highest value is
// the top. Missing and negative values count as 0.
std::string BlockCurve(const std::vector<double>& values, size_t count,
                       bool unicode);

// The same over several lines, the highest first.
std::vector<std::string> BlockColumns(const std::vector<double>& values,
                                      size_t lines, bool unicode);

}  // namespace pymemrun

#endif  // PYMEMRUN_TEXT_BLOCK_CHART_H_
