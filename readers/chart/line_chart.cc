#include "readers/chart/line_chart.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "readers/chart/svg_plot.h"
#include "readers/output/terminal.h"

namespace pymemrun {
namespace {

// On a phone, 360 dots wide, letters are still some 9 dots high.
constexpr PlotLayout kLayout = {.width = 600,
                                .left = 82,
                                .right = 16,
                                .top = 110,
                                .height = 300,
                                .font = 14,
                                .title_font = 18,
                                .legend_row = 21,
                                .time_ticks = 6};
constexpr size_t kSubtitleColumns = 62, kMostSubtitleLines = 3;
constexpr double kNumberHeight = 11, kDigitWidth = 8.2, kNumberGap = 2;
constexpr double kNumberAside = 4;  // between two of a row
// So many have room in a picture of the usual size.
constexpr double kUsualPeaks = 40;

// What numbers and points take of the picture.
struct Box {
  double left, top, right, bottom;
  bool Meets(const Box& other) const {
    return left < other.right + kNumberAside &&
           other.left < right + kNumberAside && top < other.bottom &&
           other.top < bottom;
  }
};

// What is taken, by rows of the picture, so that few need be looked at.
class TakenBoxes {
 public:
  void Add(const Box& box) {
    for (int row = RowOf(box.top); row <= RowOf(box.bottom); ++row) {
      rows_[row].push_back(box);
    }
  }
  bool Meets(const Box& box) const {
    for (int row = RowOf(box.top); row <= RowOf(box.bottom); ++row) {
      const auto taken = rows_.find(row);
      if (taken == rows_.end()) continue;
      for (const Box& other : taken->second) {
        if (box.Meets(other)) return true;
      }
    }
    return false;
  }

 private:
  static int RowOf(double y) {
    return static_cast<int>(std::floor(y / (kNumberHeight + kNumberGap)));
  }
  absl::flat_hash_map<int, std::vector<Box>> rows_;
};

// Larger for many peaks.
PlotLayout LayoutFor(size_t peaks) {
  PlotLayout layout = kLayout;
  const double times =
      std::sqrt(std::max(static_cast<double>(peaks) / kUsualPeaks, 1.0));
  layout.width = std::round(layout.width * times);
  layout.height = std::round(layout.height * times);
  return layout;
}

class ChartPrinter {
 public:
  ChartPrinter(const LineChart& chart, OutputBuffer* output)
      : chart_(chart),
        plot_(LayoutFor(chart.peaks.size()), ExtentOf(chart), output) {}

  void Print() {
    plot_.PrintHead(chart_.title, Subtitle(),
                    chart_.lines.size() + chart_.peaks.size());
    plot_.PrintGrid();
    for (auto line = chart_.lines.rbegin(); line != chart_.lines.rend();
         ++line) {
      PrintLine(*line);
    }
    plot_.PrintAxes();
    PrintNumbers();
    PrintLegend();
    plot_.Print("</svg>\n");
  }

 private:
  static PlotExtent ExtentOf(const LineChart& chart);
  std::string Subtitle() const;
  void PrintLine(const LineChart::Line& line) const;
  void PrintNumbers() const;
  std::optional<Box> PlaceFor(const LineChart::Point& point, double width,
                              const TakenBoxes& taken) const;
  void PrintLegend() const;

  const LineChart& chart_;
  const SvgPlot plot_;
};

PlotExtent ChartPrinter::ExtentOf(const LineChart& chart) {
  PlotExtent extent;
  bool any = false;
  for (const LineChart::Line& line : chart.lines) {
    for (const LineChart::Point& point : line.points) {
      extent.lowest = std::min(extent.lowest, point.bytes);
      extent.highest = std::max(extent.highest, point.bytes);
      extent.first_second =
          any ? std::min(extent.first_second, point.seconds) : point.seconds;
      extent.last_second = std::max(extent.last_second, point.seconds);
      any = true;
    }
  }
  return extent;
}

std::string ChartPrinter::Subtitle() const {
  Terminal page;
  page.columns = kSubtitleColumns;
  std::string text = page.Wrapped(chart_.subtitle, 0);
  size_t end = 0;
  for (size_t lines = 0; lines < kMostSubtitleLines && end < text.size();
       ++lines) {
    end = text.find('\n', end) + 1;
  }
  if (end > 0) text.resize(end - 1);
  return text;
}

// Without points that a straight line through their neighbours has anyway.
void ChartPrinter::PrintLine(const LineChart::Line& line) const {
  std::string path;
  const size_t count = line.points.size();
  for (size_t i = 0; i < count; ++i) {
    const double bytes = line.points[i].bytes;
    if (i > 0 && i + 1 < count && line.points[i - 1].bytes == bytes &&
        line.points[i + 1].bytes == bytes) {
      continue;
    }
    absl::StrAppendFormat(&path, "%s%.1f %.1f", path.empty() ? "M" : "L",
                          plot_.X(line.points[i].seconds), plot_.Y(bytes));
  }
  if (path.empty()) return;
  plot_.Print(absl::StrCat(
      "<path class=\"line\" fill=\"none\" stroke=\"", line.color,
      "\" stroke-width=\"", line.strong ? "2.2" : "1.6",
      line.dashes.empty() ? ""
                          : absl::StrCat("\" stroke-dasharray=\"", line.dashes),
      "\" stroke-linejoin=\"round\" d=\"", path, "\"><title>",
      XmlText(absl::StrCat(line.label, "\n", line.detail)),
      "</title></path>\n"));
}

// Above the point if there is room, or else beside that, below the point, or
// farther away. Nothing: where all is taken.
std::optional<Box> ChartPrinter::PlaceFor(const LineChart::Point& point,
                                          double width,
                                          const TakenBoxes& taken) const {
  constexpr int kAside[] = {0, -1, 1, -2, 2};
  constexpr double kAway = 5, kAboveTop = kNumberHeight + kAway;
  const PlotLayout& layout = plot_.layout();
  const double x = std::clamp(plot_.X(point.seconds), layout.left + width / 2,
                              layout.width - width / 2);
  const double y = plot_.Y(point.bytes);
  const double pitch = kNumberHeight + kNumberGap;
  const int rows = static_cast<int>(layout.height / pitch) + 2;
  for (int i = 0; i < 2 * rows; ++i) {
    const double away = kAway + (i / 2) * pitch;
    const double top = i % 2 == 0 ? y - away - kNumberHeight : y + away;
    for (const int aside : kAside) {
      const double left = x + aside * (width + kNumberAside + 1) - width / 2;
      const Box box = {left, top, left + width, top + kNumberHeight};
      const bool is_inside = left >= layout.left && box.right <= layout.width &&
                             top >= layout.top - kAboveTop &&
                             box.bottom <= layout.bottom();
      if (is_inside && !taken.Meets(box)) return box;
    }
  }
  return std::nullopt;
}

void ChartPrinter::PrintNumbers() const {
  TakenBoxes taken;
  for (const LineChart::Peak& peak : chart_.peaks) {
    const double x = plot_.X(peak.at.seconds), y = plot_.Y(peak.at.bytes);
    plot_.Print(absl::StrFormat(
        "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.6\" fill=\"%s\" "
        "stroke=\"#ffffff\"><title>%d %s\n%s</title></circle>\n",
        x, y, kInk, peak.number, XmlText(peak.label), XmlText(peak.detail)));
    taken.Add({x - 3, y - 3, x + 3, y + 3});
  }
  for (const LineChart::Peak& peak : chart_.peaks) {
    const std::string number = absl::StrCat(peak.number);
    const double width = kDigitWidth * static_cast<double>(number.size());
    const std::optional<Box> box = PlaceFor(peak.at, width, taken);
    if (!box.has_value()) continue;  // its point has a tooltip
    taken.Add(*box);
    const double x = plot_.X(peak.at.seconds), y = plot_.Y(peak.at.bytes);
    const double end = box->top > y ? box->top : box->bottom;
    if (std::fabs(end - y) > kNumberHeight) {
      plot_.Print(
          absl::StrFormat("<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"%s\" "
                          "stroke-width=\"0.6\"/>\n",
                          x, y, (box->left + box->right) / 2, end, kSoft));
    }
    plot_.PrintText(box->left, box->bottom,
                    "class=\"peak\" font-size=\"12\" font-weight=\"bold\" "
                    "stroke=\"#ffffff\" stroke-width=\"3\" "
                    "paint-order=\"stroke\"",
                    number);
  }
}

void ChartPrinter::PrintLegend() const {
  double y = plot_.layout().legend_top();
  for (const LineChart::Line& line : chart_.lines) {
    plot_.PrintLegendRow(y, plot_.LineSwatch(y, line.color, line.dashes),
                         line.label, line.detail);
    y += kLayout.legend_row;
  }
  for (const LineChart::Peak& peak : chart_.peaks) {
    plot_.PrintText(kLayout.left + 14, y,
                    absl::StrCat("text-anchor=\"end\" font-weight=\"bold\" "
                                 "fill=\"",
                                 peak.color, "\""),
                    absl::StrCat(peak.number));
    plot_.PrintLegendRow(y, "", peak.label, peak.detail);
    y += kLayout.legend_row;
  }
}

}  // namespace

void SetLook(size_t series, LineChart::Line* line) {
  static constexpr absl::string_view kColors[] = {
      "#1f6fb4", "#d1550b", "#2b8a3e", "#c2255c", "#6741d9", "#8a5a2b",
      "#0b7285", "#b08900", "#5c7c0a", "#ae3ec9", "#495057", "#c92a2a"};
  static constexpr absl::string_view kDashes[] = {"", "6 3"};
  line->color = std::string(kColors[series % std::size(kColors)]);
  line->dashes =
      std::string(kDashes[series / std::size(kColors) % std::size(kDashes)]);
}

void PrintSvg(const LineChart& chart, OutputBuffer* output) {
  ChartPrinter(chart, output).Print();
}

}  // namespace pymemrun
