#include "readers/pictures/chart/lane_chart.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "readers/pictures/chart/svg_plot.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

constexpr PlotLayout kLayout = {
    .width = 960, .left = 170, .top = 92, .height = 150};
constexpr double kLanesTop = kLayout.top + kLayout.height + 60;
constexpr size_t kMostMarks = 12, kMostMarkLabel = 18, kMostLaneLabel = 22;
// The least height of a bar that is not empty.
constexpr double kLeastBar = 1.2;

class LanePrinter {
 public:
  LanePrinter(const LaneChart& chart, OutputBuffer* output)
      : chart_(chart), plot_(kLayout, ExtentOf(chart), output) {
    const auto count =
        std::count_if(chart.lanes.begin(), chart.lanes.end(),
                      [](const LaneChart::Lane& lane) { return !lane.beside; });
    // Pixels for each thread: many threads get low lanes, so that the picture
    // still fits on a screen.
    pitch_ = count <= 12 ? 26 : count <= 24 ? 20 : 15;
  }

  void Print();

 private:
  static PlotExtent ExtentOf(const LaneChart& chart);
  // The height of a lane and the space below it. A lane that belongs to the one
  // above is close to it.
  double HeightOf(const LaneChart::Lane& lane) const {
    return lane.beside ? std::round(pitch_ * 0.5) : pitch_ - 3;
  }
  double GapBelow(size_t lane) const {
    const size_t next = lane + 1;
    if (next < chart_.lanes.size() && chart_.lanes[next].beside) return 1;
    return chart_.has_beside ? 6 : 3;
  }
  const char* FontOf(const LaneChart::Lane& lane) const {
    if (lane.beside) {
      return pitch_ < 18 ? " font-size=\"8\" fill=\"#57606a\""
                         : " font-size=\"10\" fill=\"#57606a\"";
    }
    return pitch_ < 18 ? " font-size=\"11\"" : "";
  }
  double LanesBottom() const {
    double bottom = kLanesTop;
    for (size_t i = 0; i < chart_.lanes.size(); ++i) {
      bottom += HeightOf(chart_.lanes[i]) + GapBelow(i);
    }
    return bottom;
  }
  double ColumnX(double column) const {
    return kLayout.left + kLayout.plot_width() * column / LaneChart::kColumns;
  }
  void PrintRss() const;
  void PrintMarks() const;
  void PrintLane(const LaneChart::Lane& lane, double top) const;
  void PrintPaths(const std::map<std::pair<uint32_t, bool>, std::string>& paths,
                  double width) const;
  void PrintLegend() const;

  const LaneChart& chart_;
  const SvgPlot plot_;
  double pitch_;
};

PlotExtent LanePrinter::ExtentOf(const LaneChart& chart) {
  PlotExtent extent;
  extent.first_second = chart.begin_seconds;
  extent.last_second = chart.end_seconds;
  for (const double bytes : chart.rss_bytes) {
    extent.highest = std::max(extent.highest, bytes);
  }
  return extent;
}

void LanePrinter::Print() {
  // The head expects the picture's height in rows of a legend.
  const double below =
      LanesBottom() + 28 + kLayout.legend_row * chart_.keys.size();
  plot_.PrintHead(chart_.title, chart_.subtitle,
                  static_cast<size_t>(std::ceil((below - kLayout.legend_top()) /
                                                kLayout.legend_row)));
  plot_.PrintGrid();
  PrintRss();
  plot_.PrintAxes();
  plot_.PrintText(kLayout.left + 8, kLayout.top + 15,
                  absl::StrCat("fill=\"", kSoft, "\" font-weight=\"bold\""),
                  "RSS");
  double top = kLanesTop;
  for (size_t i = 0; i < chart_.lanes.size(); ++i) {
    PrintLane(chart_.lanes[i], top);
    top += HeightOf(chart_.lanes[i]) + GapBelow(i);
  }
  PrintMarks();
  PrintLegend();
  plot_.Print("</svg>\n");
}

// Steps: RSS stays the same up to the next column. Unknown values continue the
// last one.
void LanePrinter::PrintRss() const {
  std::string path;
  double before = -1;
  for (size_t i = 0; i < chart_.rss_bytes.size(); ++i) {
    const double bytes = chart_.rss_bytes[i];
    if (bytes < 0 || bytes == before) continue;
    const double x = ColumnX(static_cast<double>(i));
    if (before < 0) {
      path = absl::StrFormat("M%.1f %.1f", x, kLayout.bottom());
    }
    absl::StrAppendFormat(&path, "L%.1f %.1f", x,
                          plot_.Y(before < 0 ? bytes : before));
    absl::StrAppendFormat(&path, "L%.1f %.1f", x, plot_.Y(bytes));
    before = bytes;
  }
  if (before < 0) return;
  const double right = kLayout.width - kLayout.right;
  absl::StrAppendFormat(&path, "L%.1f %.1fV%.1fZ", right, plot_.Y(before),
                        kLayout.bottom());
  plot_.Print(absl::StrCat("<path class=\"rss\" fill=\"#d5e3f0\" stroke=\"",
                           "#1f5f8b\" stroke-width=\"1.4\" d=\"", path,
                           "\"/>\n"));
}

// A dashed line through all lanes for each mark. Its text is above the plot.
void LanePrinter::PrintMarks() const {
  double free_from = 0;
  for (size_t i = 0; i < std::min(chart_.marks.size(), kMostMarks); ++i) {
    const LaneChart::Mark& mark = chart_.marks[i];
    const double x = plot_.X(mark.seconds);
    plot_.Print(absl::StrFormat(
        "<g class=\"mark\"><title>%s</title><line x1=\"%.1f\" y1=\"%.1f\" "
        "x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-dasharray=\"3 3\"/>",
        XmlText(mark.text), x, kLayout.top - 4, x, LanesBottom(), kSoft));
    // A label that would overlap the one before is only in the tooltip.
    const std::string label = ShortTerminalText(mark.text, kMostMarkLabel);
    const double width = 7.5 * static_cast<double>(ColumnsOf(label));
    const double left =
        std::clamp(x - width / 2, kLayout.left, kLayout.width - width);
    if (left >= free_from) {
      plot_.PrintText(left, kLayout.top - 8,
                      "font-size=\"12\" font-style=\"italic\"", label);
      free_from = left + width + 6;
    }
    plot_.Print("</g>\n");
  }
}

// Prints one path for each colour and strength: a lane of a thousand pieces has
// a few elements, not a thousand. `width`: of lines; 0: draws areas.
void LanePrinter::PrintPaths(
    const std::map<std::pair<uint32_t, bool>, std::string>& paths,
    double width) const {
  for (const auto& [look, path] : paths) {
    plot_.Print(absl::StrCat("<path ", width > 0 ? "stroke" : "fill", "=\"",
                             chart_.colors[look.first], "\""));
    if (width > 0) plot_.Print(absl::StrCat(" stroke-width=\"", width, "\""));
    plot_.Print(absl::StrCat(look.second ? " opacity=\"0.45\"" : "", " d=\"",
                             path, "\"/>\n"));
  }
}

// Draws what ran above, and what memory it added below; if there is only one of
// these, it takes the whole lane. A long label keeps its end, where names of
// threads differ.
void LanePrinter::PrintLane(const LaneChart::Lane& lane, double top) const {
  const double height = HeightOf(lane);
  const double bottom = top + height;
  // A tenth of the height stays free between the two.
  const bool both = chart_.has_pieces && chart_.has_bars && !lane.beside;
  const double running = both ? height * 0.5 : height;
  const double growing = both ? height * 0.45 : height;
  std::map<std::pair<uint32_t, bool>, std::string> pieces, bars;
  for (const LaneChart::Piece& piece : lane.pieces) {
    std::string& path = pieces[{piece.color, piece.faint}];
    absl::StrAppendFormat(&path, "M%g %gh%g", ColumnX(piece.first),
                          top + running / 2,
                          ColumnX(piece.last + 1) - ColumnX(piece.first));
  }
  for (const LaneChart::Bar& bar : lane.bars) {
    const double high = std::max(bar.height * growing, kLeastBar);
    absl::StrAppendFormat(&bars[{bar.color, false}],
                          "M%.1f %.1fH%.1fV%.1fH%.1fZ", ColumnX(bar.column),
                          bottom, ColumnX(bar.column + bar.columns),
                          bottom - high, ColumnX(bar.column));
  }
  plot_.Print(absl::StrFormat(
      "<g class=\"lane\"><title>%s</title>\n<rect x=\"%.1f\" y=\"%.1f\" "
      "width=\"%.1f\" height=\"%.1f\" fill=\"#f3f5f7\"/>\n",
      XmlText(absl::StrCat(lane.label, "\n", lane.detail)), kLayout.left, top,
      kLayout.plot_width(), height));
  PrintPaths(pieces, running);
  PrintPaths(bars, 0);
  plot_.PrintText(
      kLayout.left - 8, top + height / 2 + (lane.beside ? 3.5 : 4.5),
      absl::StrCat("text-anchor=\"end\"", FontOf(lane)),
      ShortTerminalText(lane.label, kMostLaneLabel, /*keep_end=*/true));
  plot_.Print("</g>\n");
}

void LanePrinter::PrintLegend() const {
  double y = LanesBottom() + 34;
  for (const LaneChart::Key& key : chart_.keys) {
    const std::string swatch = absl::StrFormat(
        "<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"12\" "
        "fill=\"%s\"/>\n",
        kLayout.left, y - 10.5, chart_.colors[key.color]);
    plot_.PrintLegendRow(y, swatch, key.label, key.detail);
    y += kLayout.legend_row;
  }
}

}  // namespace

void PrintSvg(const LaneChart& chart, OutputBuffer* output) {
  LanePrinter(chart, output).Print();
}

}  // namespace pymemrun
