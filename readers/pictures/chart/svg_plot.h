// What charts of bytes over seconds share in SVG: head, grid, axes and the rows
// of a legend.
#ifndef PYMEMRUN_READERS_PICTURES_CHART_SVG_PLOT_H_
#define PYMEMRUN_READERS_PICTURES_CHART_SVG_PLOT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "readers/output/output_buffer.h"

namespace pymemrun {

// Colours of text; GitHub's dark and muted ones.
inline constexpr absl::string_view kInk = "#24292f", kSoft = "#57606a";

// Positions and sizes, in units of the picture.
struct PlotLayout {
  double width = 960, left = 84, right = 24, top = 76, height = 360;
  double font = 13, title_font = 19, legend_row = 22;
  int time_ticks = 8;

  double plot_width() const { return width - left - right; }
  double bottom() const { return top + height; }
  double legend_top() const { return bottom() + 62; }
};

// The ranges of the axes.
struct PlotExtent {
  double first_second = 0, last_second = 0;
  double lowest = 0, highest = 0;  // bytes
};

// Texts may be any bytes: they are escaped. Not thread safe. The output must
// outlive it.
class SvgPlot {
 public:
  SvgPlot(const PlotLayout& layout, const PlotExtent& extent,
          OutputBuffer* output);

  double X(double seconds) const {
    return layout_.left + layout_.plot_width() * (seconds - first_second_) /
                              (last_second_ - first_second_);
  }
  double Y(double bytes) const {
    return layout_.bottom() -
           layout_.height * (bytes - lowest_) / (highest_ - lowest_);
  }
  const PlotLayout& layout() const { return layout_; }

  // Starts a picture with this number of rows in its legend.
  void PrintHead(absl::string_view title, absl::string_view subtitle,
                 size_t legend_rows) const;
  void PrintGrid() const;
  void PrintAxes() const;
  // `swatch`: SVG that shows the colour or line. `shown`: a shorter label. It
  // is cut if it does not fit before the detail.
  void PrintLegendRow(double y, absl::string_view swatch,
                      absl::string_view label, absl::string_view detail,
                      absl::string_view shown = "") const;
  // A short line for PrintLegendRow(). `dashes`: in SVG's notation; empty:
  // solid.
  std::string LineSwatch(double y, absl::string_view color,
                         absl::string_view dashes) const;
  void PrintText(double x, double y, absl::string_view attributes,
                 absl::string_view text) const;
  // Prints finished SVG.
  void Print(absl::string_view svg) const { output_.Append(svg); }

 private:
  const PlotLayout layout_;
  OutputBuffer& output_;
  double unit_bytes_;
  absl::string_view unit_name_;
  std::vector<double> byte_ticks_;
  double lowest_, highest_, first_second_, last_second_;
};

// The width of a text of this font size: at least that in DejaVu Sans or
// Verdana.
double TextWidth(absl::string_view text, double font);

// Escapes `text` for an XML element or attribute.
std::string XmlText(absl::string_view text);

// 0, step, 2 step, and so on, up to the first at or above `highest`: `about` of
// them. The step is 1, 2 or 5 times a power of 10, times `unit`. REQUIRES:
// highest > 0.
std::vector<double> RoundTicks(double highest, double unit, int about);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PICTURES_CHART_SVG_PLOT_H_
