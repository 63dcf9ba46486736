// Draws threads as lanes below a curve of RSS, on one time axis, as a
// self-contained SVG.
#ifndef PYMEMRUN_READERS_PICTURES_CHART_LANE_CHART_H_
#define PYMEMRUN_READERS_PICTURES_CHART_LANE_CHART_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "readers/output/output_buffer.h"

namespace pymemrun {

// Texts may be any bytes: printing escapes them.
struct LaneChart {
  static constexpr uint32_t kColumns = 766;  // across the time axis
  // Indexes into `colors` that every chart has.
  static constexpr uint32_t kOtherColor = 0, kLibraryColor = 1, kFirstColor = 2;

  // Columns from `first` to `last`, included.
  struct Piece {
    uint32_t first = 0, last = 0, color = 0;
    bool faint = false;  // it takes less than half of that time
  };
  // Memory added in some columns; its height is a share of the lane's.
  struct Bar {
    uint32_t column = 0, columns = 1, color = 0;
    double height = 0;  // 0 to 1
  };
  // A row of the chart: a thread, or what belongs to one.
  struct Lane {
    std::string label, detail;
    bool beside = false;        // it belongs to the lane above
    std::vector<Piece> pieces;  // by time
    std::vector<Bar> bars;      // by time
  };
  // A labelled moment on the time axis.
  struct Mark {
    double seconds = 0;
    std::string text;
  };
  // An entry of the legend.
  struct Key {
    uint32_t color = 0;
    std::string label, detail;
  };

  std::string title;
  std::string subtitle;  // one or more lines
  double begin_seconds = 0, end_seconds = 0;
  std::vector<double> rss_bytes;  // by column; negative: unknown
  std::vector<Mark> marks;
  // Whether threads have pieces, bars, and lanes below their own.
  bool has_pieces = false, has_bars = false, has_beside = false;
  std::vector<std::string> colors;
  std::vector<Lane> lanes;
  std::vector<Key> keys;  // the legend
};

// Prints the whole SVG.
void PrintSvg(const LaneChart& chart, OutputBuffer* output);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PICTURES_CHART_LANE_CHART_H_
