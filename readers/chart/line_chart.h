// A chart of lines with numbered points, as a self-contained SVG.
#ifndef PYMEMRUN_READERS_CHART_LINE_CHART_H_
#define PYMEMRUN_READERS_CHART_LINE_CHART_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "readers/output/output_buffer.h"

namespace pymemrun {

// Bytes over seconds, also below 0. Texts may be anything: the printing makes
// them harmless.
struct LineChart {
  struct Point {
    double seconds = 0, bytes = 0;
  };
  struct Line {
    std::string label;   // in the legend, shortened where it is long
    std::string detail;  // behind it
    std::string color, dashes;
    bool strong = false;
    std::vector<Point> points;  // by time
  };
  // Has its number in the picture and below the legend.
  struct Peak {
    size_t number = 0;
    Point at;
    std::string label, detail;
    std::string color;  // of its line
  };

  std::string title;
  std::string subtitle;     // is broken into lines
  std::vector<Line> lines;  // the first one lies above the others
  std::vector<Peak> peaks;
};

// How the line of a series looks: so many can be told apart on white.
void SetLook(size_t series, LineChart::Line* line);

void PrintSvg(const LineChart& chart, OutputBuffer* output);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_CHART_LINE_CHART_H_
