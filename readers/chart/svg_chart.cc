#include "readers/chart/svg_chart.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "readers/chart/svg_plot.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

class ChartPrinter {
 public:
  ChartPrinter(const StackedChart& chart, OutputBuffer* output)
      : chart_(chart), plot_(PlotLayout(), ExtentOf(chart), output) {}

  void Print() {
    plot_.PrintHead(chart_.title, chart_.subtitle, chart_.layers.size() + 1);
    plot_.PrintGrid();
    PrintLayers();
    PrintLine();
    plot_.PrintAxes();
    PrintLegend();
    plot_.Print("</svg>\n");
  }

 private:
  static PlotExtent ExtentOf(const StackedChart& chart);
  void PrintLayers() const;
  void PrintLine() const;
  void PrintLegend() const;

  const StackedChart& chart_;
  const SvgPlot plot_;
};

PlotExtent ChartPrinter::ExtentOf(const StackedChart& chart) {
  PlotExtent extent;
  std::vector<double> sum(chart.seconds.size());
  for (const auto& layer : chart.layers) {
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += layer.bytes[i];
  }
  for (const double bytes : sum) {
    extent.highest = std::max(extent.highest, bytes);
  }
  for (const double bytes : chart.line_bytes) {
    extent.highest = std::max(extent.highest, bytes);
  }
  if (chart.seconds.empty()) return extent;
  extent.first_second = chart.seconds.front();
  extent.last_second = chart.seconds.back();
  return extent;
}

void ChartPrinter::PrintLayers() const {
  std::vector<double> base(chart_.seconds.size());
  for (const auto& layer : chart_.layers) {
    std::string back;  // along the lower edge, from the right
    std::string path;
    for (size_t i = 0; i < base.size(); ++i) {
      const size_t from_right = base.size() - 1 - i;
      absl::StrAppendFormat(&path, "%s%.1f %.1f", i == 0 ? "M" : "L",
                            plot_.X(chart_.seconds[i]),
                            plot_.Y(base[i] + layer.bytes[i]));
      absl::StrAppendFormat(&back, "L%.1f %.1f",
                            plot_.X(chart_.seconds[from_right]),
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

void ChartPrinter::PrintLine() const {
  std::string path;
  for (size_t i = 0; i < chart_.seconds.size(); ++i) {
    absl::StrAppendFormat(&path, "%s%.1f %.1f", i == 0 ? "M" : "L",
                          plot_.X(chart_.seconds[i]),
                          plot_.Y(chart_.line_bytes[i]));
  }
  if (path.empty()) return;
  plot_.Print(absl::StrCat(
      "<path class=\"line\" fill=\"none\" stroke=\"", kInk,
      "\" stroke-width=\"1.6\" stroke-linejoin=\"round\" d=\"", path,
      "\"><title>", XmlText(chart_.line_label), "</title></path>\n"));
  const double x = plot_.X(chart_.seconds[chart_.marked_step]);
  const double y = plot_.Y(chart_.line_bytes[chart_.marked_step]);
  const PlotLayout& layout = plot_.layout();
  const bool right = x > layout.left + layout.plot_width() * 0.7;
  plot_.Print(
      absl::StrFormat("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" "
                      "fill=\"%s\"/>\n",
                      x, y, kInk));
  plot_.PrintText(right ? x - 8 : x + 8, std::max(y - 8, layout.top - 6),
                  absl::StrCat("font-weight=\"bold\" text-anchor=\"",
                               right ? "end" : "start",
                               "\" stroke=\"#ffffff\" stroke-width=\"3\" "
                               "paint-order=\"stroke\""),
                  chart_.mark);
}

// From the top of the stack down.
void ChartPrinter::PrintLegend() const {
  double y = plot_.layout().legend_top();
  plot_.PrintLegendRow(y, plot_.LineSwatch(y, kInk, ""), chart_.line_label,
                       chart_.line_detail);
  for (auto layer = chart_.layers.rbegin(); layer != chart_.layers.rend();
       ++layer) {
    y += plot_.layout().legend_row;
    plot_.PrintLegendRow(
        y,
        absl::StrFormat("<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" "
                        "height=\"12\" rx=\"2\" fill=\"%s\"/>\n",
                        plot_.layout().left, y - 10.5, layer->color),
        layer->label, layer->detail, layer->shown);
  }
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

void StackedChart::SetTimes(const std::vector<uint64_t>& time_us) {
  for (const uint64_t us : time_us) {
    seconds.push_back(static_cast<double>(us) / 1e6);
  }
}

void StackedChart::AddLayer(std::string label, absl::string_view color,
                            const std::vector<double>& values,
                            std::string shown) {
  Layer layer = {
      std::move(label), std::move(shown), "", std::string(color), {}};
  double lowest = 0, highest = 0;
  for (const double value : values) {
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
    layer.bytes.push_back(std::max(value, 0.0));
  }
  layer.detail = PeakText(highest);
  if (lowest <= -1) {  // not a rounding error
    absl::StrAppend(&layer.detail, ", least ", HumanBytes(lowest));
  }
  layers.push_back(std::move(layer));
}

void StackedChart::Mark(std::string label, size_t step, uint64_t time_us) {
  line_label = std::move(label);
  line_detail = PeakText(line_bytes[step]);
  marked_step = step;
  mark =
      absl::StrCat(HumanBytes(line_bytes[step]), " at ", HumanSeconds(time_us));
}

void StackedChart::MarkHighest(std::string label,
                               const std::vector<uint64_t>& time_us) {
  const size_t highest =
      std::max_element(line_bytes.begin(), line_bytes.end()) -
      line_bytes.begin();
  Mark(std::move(label), highest, time_us[highest]);
}

std::vector<std::string> LayerColors(size_t count) {
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

void PrintSvg(const StackedChart& chart, OutputBuffer* output) {
  ChartPrinter(chart, output).Print();
}

}  // namespace pymemrun
