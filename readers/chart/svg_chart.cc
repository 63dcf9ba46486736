#include "readers/chart/svg_chart.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

constexpr double kWidth = 960, kLeft = 84, kRight = 24, kTop = 76;
constexpr double kPlotWidth = kWidth - kLeft - kRight, kPlotHeight = 360;
constexpr double kBottom = kTop + kPlotHeight;
constexpr double kLegendTop = kBottom + 62, kLegendRow = 22;
constexpr size_t kMostLabel = 96;
constexpr int kMostTicks = 20;
constexpr absl::string_view kInk = "#24292f", kSoft = "#57606a";

struct ByteUnit {
  double bytes;
  absl::string_view name;
};

ByteUnit UnitFor(double highest) {
  constexpr ByteUnit kUnits[] = {{1024.0 * 1024 * 1024 * 1024, "TiB"},
                                 {1024.0 * 1024 * 1024, "GiB"},
                                 {1024.0 * 1024, "MiB"}};
  for (const ByteUnit& unit : kUnits) {
    if (highest >= 2 * unit.bytes) return unit;
  }
  return {1024.0, "KiB"};
}

// "0.25", "1000": no more digits than the step between ticks has.
std::string TickText(double value, double step) {
  const int digits =
      std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 9);
  return absl::StrFormat("%.*f", digits, value);
}

std::string Text(double x, double y, absl::string_view attributes,
                 absl::string_view text) {
  return absl::StrFormat("<text x=\"%.1f\" y=\"%.1f\" %s>%s</text>\n", x, y,
                         attributes, XmlText(text));
}

class SvgPrinter {
 public:
  SvgPrinter(const StackedChart& chart, OutputBuffer* output)
      : chart_(chart), output_(*output) {
    double highest = 1024;
    std::vector<double> sum(chart.seconds.size());
    for (const auto& layer : chart.layers) {
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += layer.bytes[i];
    }
    for (const double bytes : sum) highest = std::max(highest, bytes);
    for (const double bytes : chart.line_bytes) {
      highest = std::max(highest, bytes);
    }
    unit_ = UnitFor(highest);
    byte_ticks_ = RoundTicks(highest, unit_.bytes, 6);
    highest_ = byte_ticks_.back();
    first_second_ = chart.seconds.empty() ? 0 : chart.seconds.front();
    last_second_ = chart.seconds.empty() ? 0 : chart.seconds.back();
    last_second_ = std::max(last_second_, first_second_ + 1e-6);
  }

  void Print() {
    PrintHead();
    PrintGrid();
    PrintLayers();
    PrintLine();
    PrintAxes();
    PrintLegend();
    output_.Append("</svg>\n");
  }

 private:
  double X(double seconds) const {
    return kLeft + kPlotWidth * (seconds - first_second_) /
                       (last_second_ - first_second_);
  }
  double Y(double bytes) const {
    return kBottom - kPlotHeight * bytes / highest_;
  }
  void PrintHead() const;
  void PrintGrid() const;
  void PrintLayers() const;
  void PrintLine() const;
  void PrintAxes() const;
  void PrintLegend() const;
  void PrintLegendRow(double y, absl::string_view swatch,
                      absl::string_view label, absl::string_view detail) const;

  const StackedChart& chart_;
  OutputBuffer& output_;
  ByteUnit unit_;
  std::vector<double> byte_ticks_;
  double highest_, first_second_, last_second_;
};

void SvgPrinter::PrintHead() const {
  const double height =
      kLegendTop + kLegendRow * static_cast<double>(chart_.layers.size() + 1) +
      8;
  output_.Append(absl::StrFormat(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
      "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
      "font-family=\"DejaVu Sans, Verdana, Arial, sans-serif\" "
      "font-size=\"13\" fill=\"%s\">\n<title>%s</title>\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
      kWidth, height, kWidth, height, kInk, XmlText(chart_.title)));
  output_.Append(
      Text(kLeft, 32, "font-size=\"19\" font-weight=\"bold\"", chart_.title));
  output_.Append(
      Text(kLeft, 54, absl::StrCat("fill=\"", kSoft, "\""), chart_.subtitle));
}

void SvgPrinter::PrintGrid() const {
  output_.Append("<g stroke=\"#d8dee4\" stroke-width=\"1\">\n");
  for (const double bytes : byte_ticks_) {
    output_.Append(absl::StrFormat(
        "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", kLeft,
        Y(bytes), kWidth - kRight, Y(bytes)));
  }
  output_.Append("</g>\n");
}

void SvgPrinter::PrintLayers() const {
  std::vector<double> base(chart_.seconds.size());
  for (const auto& layer : chart_.layers) {
    std::string back;  // along the lower edge, from the right
    std::string path;
    for (size_t i = 0; i < base.size(); ++i) {
      const size_t from_right = base.size() - 1 - i;
      absl::StrAppendFormat(&path, "%s%.1f %.1f", i == 0 ? "M" : "L",
                            X(chart_.seconds[i]), Y(base[i] + layer.bytes[i]));
      absl::StrAppendFormat(&back, "L%.1f %.1f", X(chart_.seconds[from_right]),
                            Y(base[from_right]));
    }
    output_.Append(absl::StrCat(
        "<path class=\"layer\" fill=\"", layer.color, "\" stroke=\"#ffffff\" ",
        "stroke-width=\"0.5\" d=\"", path, back, "Z\"><title>",
        XmlText(absl::StrCat(layer.label, "\n", layer.detail)),
        "</title></path>\n"));
    for (size_t i = 0; i < base.size(); ++i) base[i] += layer.bytes[i];
  }
}

void SvgPrinter::PrintLine() const {
  std::string path;
  for (size_t i = 0; i < chart_.seconds.size(); ++i) {
    absl::StrAppendFormat(&path, "%s%.1f %.1f", i == 0 ? "M" : "L",
                          X(chart_.seconds[i]), Y(chart_.line_bytes[i]));
  }
  if (path.empty()) return;
  output_.Append(absl::StrCat(
      "<path class=\"line\" fill=\"none\" stroke=\"", kInk,
      "\" stroke-width=\"1.6\" stroke-linejoin=\"round\" d=\"", path,
      "\"><title>", XmlText(chart_.line_label), "</title></path>\n"));
  const double x = X(chart_.seconds[chart_.marked_step]);
  const double y = Y(chart_.line_bytes[chart_.marked_step]);
  const bool right = x > kLeft + kPlotWidth * 0.7;
  output_.Append(
      absl::StrFormat("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" "
                      "fill=\"%s\"/>\n",
                      x, y, kInk));
  output_.Append(Text(right ? x - 8 : x + 8, std::max(y - 8, kTop - 6),
                      absl::StrCat("font-weight=\"bold\" text-anchor=\"",
                                   right ? "end" : "start",
                                   "\" stroke=\"#ffffff\" stroke-width=\"3\" "
                                   "paint-order=\"stroke\""),
                      chart_.mark));
}

void SvgPrinter::PrintAxes() const {
  const double byte_step = (byte_ticks_[1] - byte_ticks_[0]) / unit_.bytes;
  for (const double bytes : byte_ticks_) {
    output_.Append(Text(kLeft - 8, Y(bytes) + 4.5, "text-anchor=\"end\"",
                        absl::StrCat(TickText(bytes / unit_.bytes, byte_step),
                                     " ", unit_.name)));
  }
  const double step = RoundTicks(last_second_ - first_second_, 1, 8)[1];
  const double first_tick = std::ceil(first_second_ / step - 1e-9) * step;
  for (int i = 0; i < kMostTicks; ++i) {
    const double seconds = first_tick + i * step;
    if (seconds > last_second_ * (1 + 1e-9)) break;
    const double x = X(seconds);
    output_.Append(
        absl::StrFormat("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" "
                        "stroke=\"%s\"/>\n",
                        x, kBottom, x, kBottom + 5, kSoft));
    output_.Append(Text(x, kBottom + 20, "text-anchor=\"middle\"",
                        TickText(seconds, step)));
  }
  output_.Append(absl::StrFormat(
      "<path d=\"M%.1f %.1fV%.1fH%.1f\" fill=\"none\" stroke=\"%s\"/>\n", kLeft,
      kTop, kBottom, kWidth - kRight, kSoft));
  output_.Append(
      Text(kLeft + kPlotWidth / 2, kBottom + 40,
           absl::StrCat("text-anchor=\"middle\" fill=\"", kSoft, "\""),
           "seconds since the start"));
}

void SvgPrinter::PrintLegendRow(double y, absl::string_view swatch,
                                absl::string_view label,
                                absl::string_view detail) const {
  output_.Append(absl::StrCat("<g class=\"legend\"><title>", XmlText(label),
                              "</title>\n", swatch));
  output_.Append(
      Text(kLeft + 22, y, "", ShortTerminalText(label, kMostLabel, true)));
  output_.Append(Text(kWidth - kRight, y,
                      absl::StrCat("text-anchor=\"end\" fill=\"", kSoft, "\""),
                      detail));
  output_.Append("</g>\n");
}

// From the top of the stack down.
void SvgPrinter::PrintLegend() const {
  double y = kLegendTop;
  PrintLegendRow(y,
                 absl::StrFormat("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
                                 "y2=\"%.1f\" stroke=\"%s\" "
                                 "stroke-width=\"2\"/>\n",
                                 kLeft, y - 4.5, kLeft + 14, y - 4.5, kInk),
                 chart_.line_label, chart_.line_detail);
  for (auto layer = chart_.layers.rbegin(); layer != chart_.layers.rend();
       ++layer) {
    y += kLegendRow;
    PrintLegendRow(y,
                   absl::StrFormat("<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" "
                                   "height=\"12\" rx=\"2\" fill=\"%s\"/>\n",
                                   kLeft, y - 10.5, layer->color),
                   layer->label, layer->detail);
  }
}

}  // namespace

std::string XmlText(absl::string_view text) {
  // Line ends are for tooltips; control characters have no place in XML.
  std::string safe;
  for (size_t begin = 0;;) {
    const size_t end = text.find('\n', begin);
    safe += TerminalText(text.substr(begin, end - begin));
    if (end == absl::string_view::npos) break;
    safe += '\n';
    begin = end + 1;
  }
  return absl::StrReplaceAll(safe, {{"&", "&amp;"},
                                    {"<", "&lt;"},
                                    {">", "&gt;"},
                                    {"\"", "&quot;"},
                                    {"'", "&#39;"}});
}

std::vector<double> RoundTicks(double highest, double unit, int about) {
  const double rough = highest / unit / about;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double times : {1.0, 2.0, 5.0}) {
    if (rough <= times * power * (1 + 1e-9)) {
      step = times * power;
      break;
    }
  }
  std::vector<double> ticks = {0};
  while (ticks.back() < highest * (1 - 1e-9)) {
    ticks.push_back(static_cast<double>(ticks.size()) * step * unit);
  }
  return ticks;
}

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
                            const std::vector<double>& values) {
  Layer layer = {std::move(label), "", std::string(color), {}};
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
  SvgPrinter(chart, output).Print();
}

}  // namespace pymemrun
