// Draws bytes over time as a self-contained SVG: stacked areas, lines above
// them, and points with a text or a number.
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

// Texts may be any bytes: printing escapes them.
struct TimeChart {
  // An area of the stack.
  struct Layer {
    std::string label;          // the whole text, in the tooltip
    std::string shown;          // in the legend, if it is shorter
    std::string detail;         // after the label: "peak 64.0 MiB"
    std::string color;          // "#4e79a7"
    std::vector<double> bytes;  // at each moment; not negative
  };
  // A curve above the areas.
  struct Line {
    std::string label, detail;  // in the legend
    std::vector<double> bytes;  // at each moment; may be negative
    std::string color = std::string(kInk);
    std::string dashes;  // in SVG's notation
  };
  // A point with a label.
  struct Mark {
    std::string text;  // beside the point; or its number
    double seconds = 0, bytes = 0;
    std::string label, detail;  // with numbers: in the legend
    std::string color = std::string(kInk);
  };

  // Adds layers for the chosen series, the others, and parts with a colour;
  // adds the total as a line above them.
  void AddLayers(const Curves& curves);
  // Marks the total at this moment, or at its highest value.
  void MarkTotal(const Curves& curves, uint64_t time_us);
  void MarkHighest(const Curves& curves);

  PlotLayout layout;
  std::string title;
  std::string subtitle;           // one or more lines
  std::vector<uint64_t> time_us;  // ascending
  std::vector<Layer> layers;      // the lowest one first
  std::vector<Line> lines;        // the first one is drawn on top
  std::vector<Mark> marks;
  bool numbers_marks = false;
};

// "Live bytes of job.py"; `script` may be a path, or empty.
std::string TitleOf(absl::string_view what, const std::string& script);
// "peak 64.0 MiB".
std::string PeakText(double bytes);
// Colours for `count` layers that are easy to distinguish.
std::vector<std::string> LayerColors(size_t count);

// Prints the whole SVG.
void PrintSvg(const TimeChart& chart, OutputBuffer* output);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PICTURES_CHART_SVG_CHART_H_
