#include "readers/chart/line_chart.h"

#include <algorithm>
#include <cmath>
#include <iterator>

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
                                .time_ticks = 6,
                                .most_label = 42};
constexpr size_t kSubtitleColumns = 62, kMostSubtitleLines = 3;
constexpr double kNumberHeight = 11, kDigitWidth = 7.5, kNumberGap = 2;

// What numbers and points take of the picture.
struct Box {
  double left, top, right, bottom;
  bool Meets(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom &&
           other.top < bottom;
  }
};

class ChartPrinter {
 public:
  ChartPrinter(const LineChart& chart, OutputBuffer* output)
      : chart_(chart), plot_(kLayout, ExtentOf(chart), output) {}

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
  Box PlaceFor(const LineChart::Point& point, double width,
               const std::vector<Box>& taken) const;
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
// farther away: there are more places than a picture has peaks.
Box ChartPrinter::PlaceFor(const LineChart::Point& point, double width,
                           const std::vector<Box>& taken) const {
  constexpr int kRows[] = {0, -1, 1, -2, 2, -3, 3, -4, 4, -5, 5, -6};
  constexpr int kAside[] = {0, -1, 1, -2, 2};
  constexpr double kAway = 5, kAboveTop = kNumberHeight + kAway;
  const double x = std::clamp(plot_.X(point.seconds), kLayout.left + width / 2,
                              kLayout.width - width / 2);
  const double y = plot_.Y(point.bytes);
  const auto place = [&](int row, int aside) {
    const double away =
        kAway + (row < 0 ? ~row : row) * (kNumberHeight + kNumberGap);
    const double top = row < 0 ? y + away : y - away - kNumberHeight;
    const double left = x + aside * (width + 3) - width / 2;
    return Box{left, top, left + width, top + kNumberHeight};
  };
  for (const int row : kRows) {
    for (const int aside : kAside) {
      const Box box = place(row, aside);
      const bool is_inside = box.left >= kLayout.left &&
                             box.right <= kLayout.width &&
                             box.top >= kLayout.top - kAboveTop &&
                             box.bottom <= kLayout.top + kLayout.height;
      const auto meets = [&box](const Box& other) { return box.Meets(other); };
      if (is_inside && std::none_of(taken.begin(), taken.end(), meets)) {
        return box;
      }
    }
  }
  return place(0, 0);
}

void ChartPrinter::PrintNumbers() const {
  std::vector<Box> taken;
  for (const LineChart::Peak& peak : chart_.peaks) {
    const double x = plot_.X(peak.at.seconds), y = plot_.Y(peak.at.bytes);
    plot_.Print(
        absl::StrFormat("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.6\" fill=\"%s\" "
                        "stroke=\"#ffffff\"/>\n",
                        x, y, kInk));
    taken.push_back({x - 3, y - 3, x + 3, y + 3});
  }
  for (size_t i = 0; i < chart_.peaks.size(); ++i) {
    const std::string number = absl::StrCat(chart_.peaks[i].number);
    const double width = kDigitWidth * static_cast<double>(number.size());
    const Box box = PlaceFor(chart_.peaks[i].at, width, taken);
    taken.push_back(box);
    plot_.PrintText(box.left, box.bottom,
                    "class=\"peak\" font-size=\"12\" font-weight=\"bold\" "
                    "stroke=\"#ffffff\" stroke-width=\"3\" "
                    "paint-order=\"stroke\"",
                    number);
  }
}

void ChartPrinter::PrintLegend() const {
  double y = kLayout.legend_top();
  for (const LineChart::Line& line : chart_.lines) {
    plot_.PrintLegendRow(y, plot_.LineSwatch(y, line.color, line.dashes),
                         line.label, line.detail);
    y += kLayout.legend_row;
  }
  for (const LineChart::Peak& peak : chart_.peaks) {
    plot_.PrintText(kLayout.left + 14, y,
                    "text-anchor=\"end\" font-weight=\"bold\"",
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
