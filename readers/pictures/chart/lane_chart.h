// Lanes of threads below a curve of RSS, on one clock, as a self-contained SVG.
#ifndef PYMEMRUN_READERS_PICTURES_CHART_LANE_CHART_H_
#define PYMEMRUN_READERS_PICTURES_CHART_LANE_CHART_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "readers/output/output_buffer.h"

namespace pymemrun {

// Texts may be anything: the printing makes them harmless.
struct LaneChart {
  static constexpr uint32_t kColumns = 766;  // of the picture's time
  // Places of `colors` that every chart has.
  static constexpr uint32_t kOtherColor = 0, kLibraryColor = 1, kFirstColor = 2;

  // From column to column, both included.
  struct Piece {
    uint32_t first = 0, last = 0, color = 0;
    bool faint = false;  // it takes less than half of the time there
  };
  struct Bar {
    uint32_t column = 0, columns = 1, color = 0;
    double height = 0;  // 0 to 1
  };
  struct Lane {
    std::string label, detail;
    bool beside = false;        // it belongs to the lane above it
    std::vector<Piece> pieces;  // by time
    std::vector<Bar> bars;      // by time
  };
  struct Mark {
    double seconds = 0;
    std::string text;
  };
  struct Key {
    uint32_t color = 0;
    std::string label, detail;
  };

  std::string title;
  std::string subtitle;  // its lines
  double begin_seconds = 0, end_seconds = 0;
  std::vector<double> rss_bytes;  // by column; below 0: not known
  std::vector<Mark> marks;
  // Whether threads have pieces, bars, and lanes beside them.
  bool has_pieces = false, has_bars = false, has_beside = false;
  std::vector<std::string> colors;
  std::vector<Lane> lanes;
  std::vector<Key> keys;  // the legend
};

void PrintSvg(const LaneChart& chart, OutputBuffer* output);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PICTURES_CHART_LANE_CHART_H_
