#include "readers/pictures/chart/svg_chart.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

double SecondsAt(uint64_t time_us) {
  return static_cast<double>(time_us) / 1e6;
}

class ChartPrinter {
 public:
  ChartPrinter(const TimeChart& chart, OutputBuffer* output)
      : chart_(chart), plot_(chart.layout, ExtentOf(chart), output) {}

  void Print() {
    plot_.PrintHead(chart_.title, chart_.subtitle,
                    chart_.layers.size() + chart_.lines.size() +
                        (chart_.numbers_marks ? chart_.marks.size() : 0));
    plot_.PrintGrid();
    PrintLayers();
    // The first line is drawn last, over the others.
    for (auto line = chart_.lines.rbegin(); line != chart_.lines.rend();
         ++line) {
      PrintLine(*line);
    }
    for (const TimeChart::Mark& mark : chart_.marks) PrintMark(mark);
    plot_.PrintAxes();
    PrintLegend();
    plot_.Print("</svg>\n");
  }

 private:
  static PlotExtent ExtentOf(const TimeChart& chart);
  void PrintLayers() const;
  void PrintLine(const TimeChart::Line& line) const;
  void PrintMark(const TimeChart::Mark& mark);
  void PrintNumber(double x, double y, const std::string& text);
  void PrintLegend() const;
  double X(size_t moment) const {
    return plot_.X(SecondsAt(chart_.time_us[moment]));
  }

  const TimeChart& chart_;
  const SvgPlot plot_;
  std::vector<std::pair<double, double>> numbers_;  // their positions
};

// The highest point is that of a line, or of all layers on top of each other.
PlotExtent ChartPrinter::ExtentOf(const TimeChart& chart) {
  PlotExtent extent;
  std::vector<double> sum(chart.time_us.size());
  for (const auto& layer : chart.layers) {
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += layer.bytes[i];
  }
  for (const double bytes : sum) {
    extent.highest = std::max(extent.highest, bytes);
  }
  for (const auto& line : chart.lines) {
    for (const double bytes : line.bytes) {
      extent.highest = std::max(extent.highest, bytes);
      extent.lowest = std::min(extent.lowest, bytes);
    }
  }
  if (chart.time_us.empty()) return extent;
  extent.first_second = SecondsAt(chart.time_us.front());
  extent.last_second = SecondsAt(chart.time_us.back());
  return extent;
}

// Stacks the layers. Each is a path along its upper edge, and back along the
// upper edge of the one below.
void ChartPrinter::PrintLayers() const {
  std::vector<double> base(chart_.time_us.size());
  for (const auto& layer : chart_.layers) {
    std::string back;  // along the lower edge, from right to left
    std::string path;
    for (size_t i = 0; i < base.size(); ++i) {
      const size_t from_right = base.size() - 1 - i;
      absl::StrAppendFormat(&path, "%s%.1f %.1f", i == 0 ? "M" : "L", X(i),
                            plot_.Y(base[i] + layer.bytes[i]));
      absl::StrAppendFormat(&back, "L%.1f %.1f", X(from_right),
                            plot_.Y(base[from_right]));
    }
    plot_.Print(absl::StrCat(
        "<path class=\"layer\" fill=\"", layer.color, "\" stroke=\"#ffffff\" ",
        "stroke-width=\"0.5\" d=\"", path, back, "Z\"><title>",
        XmlText(absl::StrCat(layer.label, "\n", layer.detail)),
        "</title></path>\n"));
    for (size_t i = 0; i < base.size(); ++i) base[i] += layer.bytes[i];
  }
}

void ChartPrinter::PrintLine(const TimeChart::Line& line) const {
  std::string path;
  for (size_t i = 0; i < line.bytes.size(); ++i) {
    absl::StrAppendFormat(&path, "%s%.1f %.1f", i == 0 ? "M" : "L", X(i),
                          plot_.Y(line.bytes[i]));
  }
  if (path.empty()) return;
  plot_.Print(absl::StrCat(
      "<path class=\"line\" fill=\"none\" stroke=\"", line.color,
      "\" stroke-width=\"1.6",
      line.dashes.empty() ? ""
                          : absl::StrCat("\" stroke-dasharray=\"", line.dashes),
      "\" stroke-linejoin=\"round\" d=\"", path, "\"><title>",
      XmlText(line.label), "</title></path>\n"));
}

constexpr double kNumberWidth = 20, kNumberHeight = 13;
constexpr absl::string_view kHalo =
    "\" stroke=\"#ffffff\" stroke-width=\"3\" paint-order=\"stroke\"";

// A text has a white halo, as it may be in front of any layer.
void ChartPrinter::PrintMark(const TimeChart::Mark& mark) {
  const double x = plot_.X(mark.seconds);
  const double y = plot_.Y(mark.bytes);
  plot_.Print(
      absl::StrFormat("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" "
                      "fill=\"%s\"/>\n",
                      x, y, kInk));
  const PlotLayout& layout = plot_.layout();
  if (!chart_.numbers_marks) {
    // Near the right edge a text is put to the left of its point.
    const bool right = x > layout.left + layout.plot_width() * 0.7;
    return plot_.PrintText(right ? x - 8 : x + 8,
                           std::max(y - 8, layout.top - 6),
                           absl::StrCat("font-weight=\"bold\" text-anchor=\"",
                                        right ? "end" : "start", kHalo),
                           mark.text);
  }
  PrintNumber(x, y - 6, mark.text);
}

// Moves above points and numbers nearby.
void ChartPrinter::PrintNumber(double x, double y, const std::string& text) {
  for (const TimeChart::Mark& other : chart_.marks) {
    const double other_y = plot_.Y(other.bytes) - 6;
    const bool is_near =
        std::fabs(plot_.X(other.seconds) - x) < kNumberWidth / 2;
    if (is_near && std::fabs(other_y - y) < kNumberHeight) {
      y = std::min(y, other_y);
    }
  }
  for (const auto& [taken_x, taken_y] : numbers_) {
    if (std::fabs(taken_x - x) < kNumberWidth &&
        std::fabs(taken_y - y) < kNumberHeight) {
      y = taken_y - kNumberHeight;
    }
  }
  numbers_.emplace_back(x, y);
  plot_.PrintText(x, y,
                  absl::StrCat("class=\"peak\" font-size=\"12\" "
                               "font-weight=\"bold\" text-anchor=\"middle",
                               kHalo),
                  text);
}

// Lists lines, then layers from the top down, then numbers.
void ChartPrinter::PrintLegend() const {
  const PlotLayout& layout = plot_.layout();
  double y = layout.legend_top();
  for (const auto& line : chart_.lines) {
    plot_.PrintLegendRow(y, plot_.LineSwatch(y, line.color, line.dashes),
                         line.label, line.detail);
    y += layout.legend_row;
  }
  for (auto layer = chart_.layers.rbegin(); layer != chart_.layers.rend();
       ++layer) {
    plot_.PrintLegendRow(
        y,
        absl::StrFormat("<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" "
                        "height=\"12\" rx=\"2\" fill=\"%s\"/>\n",
                        layout.left, y - 10.5, layer->color),
        layer->label, layer->detail, layer->shown);
    y += layout.legend_row;
  }
  for (const TimeChart::Mark& mark : chart_.marks) {
    if (!chart_.numbers_marks) break;
    plot_.PrintText(layout.left + 14, y,
                    absl::StrCat("text-anchor=\"end\" font-weight=\"bold\" "
                                 "fill=\"",
                                 mark.color, "\""),
                    mark.text);
    plot_.PrintLegendRow(y, "", mark.label, mark.detail);
    y += layout.legend_row;
  }
}

// A stack cannot show negative values: they count as 0, and the text names the
// least.
TimeChart::Layer LayerOf(const Series& series, absl::string_view color,
                         std::string shown = "") {
  TimeChart::Layer layer = {
      series.Title(), std::move(shown), "", std::string(color), {}};
  double lowest = 0;
  for (const double value : series.values) {
    lowest = std::min(lowest, value);
    layer.bytes.push_back(std::max(value, 0.0));
  }
  layer.detail = PeakText(std::max(series.Peak(), 0.0));
  if (lowest <= -1) {  // more than a rounding error
    absl::StrAppend(&layer.detail, ", least ", HumanBytes(lowest));
  }
  return layer;
}

}  // namespace

std::string PeakText(double bytes) {
  return absl::StrCat("peak ", HumanBytes(bytes));
}

std::string TitleOf(absl::string_view what, const std::string& script) {
  return script.empty()
             ? std::string(what)
             : absl::StrCat(what, " of ", script.substr(script.rfind('/') + 1));
}

// From the bottom: parts that belong there, the places, all other places, then
// the other parts. A part without a colour is not drawn.
void TimeChart::AddLayers(const Curves& curves) {
  time_us = curves.time_us;
  lines.push_back({curves.total.Title(), "", curves.total.values});
  std::vector<Place> places;
  for (const Series& series : curves.chosen) places.push_back(series.place);
  const std::vector<std::string> shown = ShortLabelsOf(places);
  const std::vector<std::string> colors = LayerColors(places.size());
  for (const Series& part : curves.parts) {
    if (part.is_lowest) layers.push_back(LayerOf(part, part.color));
  }
  for (size_t i = 0; i < places.size(); ++i) {
    layers.push_back(LayerOf(curves.chosen[i], colors[i], shown[i]));
  }
  if (!curves.others.place.file.empty()) {
    layers.push_back(LayerOf(curves.others, "#8c959f"));
  }
  for (const Series& part : curves.parts) {
    if (part.is_lowest || part.color.empty()) continue;
    layers.push_back(LayerOf(part, part.color));
  }
  // A damaged run may have fewer values than moments.
  for (Layer& layer : layers) layer.bytes.resize(curves.time_us.size());
}

void TimeChart::MarkTotal(const Curves& curves, uint64_t at_us) {
  if (curves.time_us.empty()) return;
  // The first moment from `at_us` on, or the last one.
  const auto found =
      std::lower_bound(curves.time_us.begin(), curves.time_us.end() - 1, at_us);
  const auto at = static_cast<size_t>(found - curves.time_us.begin());
  const std::vector<double>& values = curves.total.values;
  const double bytes = at < values.size() ? values[at] : 0;
  lines[0].detail = PeakText(bytes);
  marks.push_back({absl::StrCat(HumanBytes(bytes), " at ", HumanSeconds(at_us)),
                   SecondsAt(*found), bytes});
}

void TimeChart::MarkHighest(const Curves& curves) {
  const auto& values = curves.total.values;
  MarkTotal(curves,
            curves.time_us[std::max_element(values.begin(), values.end()) -
                           values.begin()]);
}

std::vector<std::string> LayerColors(size_t count) {
  // Most are Tableau's, which stay distinct beside each other. They repeat.
  static constexpr absl::string_view kColors[] = {
      "#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948",
      "#b07aa1", "#ff9da7", "#9c755f", "#1f5f8b", "#a0cbe8", "#ffbe7d",
      "#8cd17d", "#b6992d", "#499894", "#86bcb6", "#d37295", "#fabfd2",
      "#d4a6c8", "#d7b5a6", "#79706e", "#5b8c5a", "#c85200", "#7b66d2"};
  std::vector<std::string> colors;
  for (size_t i = 0; i < count; ++i) {
    colors.emplace_back(kColors[i % std::size(kColors)]);
  }
  return colors;
}

void PrintSvg(const TimeChart& chart, OutputBuffer* output) {
  ChartPrinter(chart, output).Print();
}

}  // namespace pymemrun
