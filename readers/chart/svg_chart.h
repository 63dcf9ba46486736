// A stacked area chart as a self-contained SVG.
#ifndef PYMEMRUN_READERS_CHART_SVG_CHART_H_
#define PYMEMRUN_READERS_CHART_SVG_CHART_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "readers/output/output_buffer.h"

namespace pymemrun {

// Bytes over seconds. Texts may be anything: they are made harmless and escaped
// by the printing.
struct StackedChart {
  struct Layer {
    std::string label;          // the whole, for the pointer
    std::string shown;          // in the legend, cut where it is long
    std::string detail;         // behind it: "peak 64.0 MiB"
    std::string color;          // "#4e79a7"
    std::vector<double> bytes;  // one for each step, not below 0
  };

  void SetTimes(const std::vector<uint64_t>& time_us);
  // Adds a layer of these bytes, or 0 where they are below; its detail says so.
  // `shown`: a shorter label.
  void AddLayer(std::string label, absl::string_view color,
                const std::vector<double>& values, std::string shown = "");
  // Names the line, and marks the point of it at this step, or its highest.
  void Mark(std::string label, size_t step, uint64_t time_us);
  void MarkHighest(std::string label, const std::vector<uint64_t>& time_us);

  std::string title;
  std::string subtitle;
  std::vector<double> seconds;  // rising
  std::vector<Layer> layers;    // the lowest first
  // A line above the layers, and a point of it with a text of its own.
  std::string line_label;
  std::string line_detail;
  std::vector<double> line_bytes;
  size_t marked_step = 0;
  std::string mark;
};

// "Live bytes of job.py"; `script` may be empty, or a path.
std::string TitleOf(absl::string_view what, const std::string& script);
// "peak 64.0 MiB".
std::string PeakText(double bytes);

// Colours of `count` layers that are told apart well.
std::vector<std::string> LayerColors(size_t count);

void PrintSvg(const StackedChart& chart, OutputBuffer* output);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_CHART_SVG_CHART_H_
