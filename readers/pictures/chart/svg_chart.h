// A chart of bytes over time as a self-contained SVG: areas that lie on each
// other, lines above them, and points with a text or a number.
#ifndef PYMEMRUN_READERS_PICTURES_CHART_SVG_CHART_H_
#define PYMEMRUN_READERS_PICTURES_CHART_SVG_CHART_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "readers/output/output_buffer.h"
#include "readers/pictures/chart/svg_plot.h"
#include "readers/series/series.h"

namespace pymemrun {

// Texts may be anything: the printing makes them harmless.
struct TimeChart {
  struct Layer {
    std::string label;          // the whole, for the pointer
    std::string shown;          // in the legend, where that is shorter
    std::string detail;         // behind it: "peak 64.0 MiB"
    std::string color;          // "#4e79a7"
    std::vector<double> bytes;  // at each moment, not below 0
  };
  struct Line {
    std::string label, detail;  // in the legend
    std::vector<double> bytes;  // at each moment, also below 0
    std::string color = std::string(kInk);
    std::string dashes;  // as SVG has them
  };
  struct Mark {
    std::string text;  // beside the point; or its number
    double seconds = 0, bytes = 0;
    std::string label, detail;  // of a number: in the legend
    std::string color = std::string(kInk);
  };

  // The chosen series, the others, and those parts that have a colour, as
  // layers; the total as a line above them.
  void AddLayers(const Curves& curves);
  // Marks the total's value at this moment, or the highest value.
  void MarkTotal(const Curves& curves, uint64_t time_us);
  void MarkHighest(const Curves& curves);

  PlotLayout layout;
  std::string title;
  std::string subtitle;           // its lines
  std::vector<uint64_t> time_us;  // rising
  std::vector<Layer> layers;      // the lowest first
  std::vector<Line> lines;        // the first one lies above the others
  std::vector<Mark> marks;
  bool numbers_marks = false;
};

// "Live bytes of job.py"; `script` may be empty, or a path.
std::string TitleOf(absl::string_view what, const std::string& script);
// "peak 64.0 MiB".
std::string PeakText(double bytes);
// Colours of `count` layers that are told apart well.
std::vector<std::string> LayerColors(size_t count);

void PrintSvg(const TimeChart& chart, OutputBuffer* output);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PICTURES_CHART_SVG_CHART_H_
