#include "readers/pictures/chart/svg_plot.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "text/fitted_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

constexpr int kMostTicks = 20;
constexpr double kSubtitleRow = 16;
constexpr double kLegendText = 22, kLegendGap = 14;
constexpr double kFewestTitle = 12;  // its font
constexpr double kBoldness = 1.12;   // of a title's letters
constexpr size_t kMostLegendColumns = 300, kFewestLegendColumns = 12;

struct ByteUnit {
  double bytes;
  absl::string_view name;
};

// The largest unit that the axis exceeds twice, so that ticks have few digits.
ByteUnit UnitFor(double highest) {
  constexpr ByteUnit kUnits[] = {{1024.0 * 1024 * 1024 * 1024, "TiB"},
                                 {1024.0 * 1024 * 1024, "GiB"},
                                 {1024.0 * 1024, "MiB"}};
  for (const ByteUnit& unit : kUnits) {
    if (highest >= 2 * unit.bytes) return unit;
  }
  return {1024.0, "KiB"};
}

// "0.25", "1000": with the digits that the step between ticks needs.
std::string TickText(double value, double step) {
  const int digits =
      std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 9);
  return absl::StrFormat("%.*f", digits, value);
}

// Ticks from the round value at or below `lowest` on, so 0 is one of them. The
// tiny factors absorb rounding: a value on a tick needs no further one.
std::vector<double> ByteTicks(double lowest, double highest, double unit) {
  std::vector<double> ticks = RoundTicks(highest - lowest, unit, 6);
  const double step = ticks[1];
  const double first = std::floor(lowest / step + 1e-9) * step;
  ticks = {first};
  while (ticks.back() < highest * (1 - 1e-9)) {
    ticks.push_back(first + static_cast<double>(ticks.size()) * step);
  }
  return ticks;
}

}  // namespace

SvgPlot::SvgPlot(const PlotLayout& layout, const PlotExtent& extent,
                 OutputBuffer* output)
    : layout_(layout), output_(*output) {
  // The axes have an extent even if nothing was recorded.
  const double highest = std::max(extent.highest, 1024.0);
  const double lowest = std::min(extent.lowest, 0.0);
  const ByteUnit unit = UnitFor(std::max(highest, -lowest));
  unit_bytes_ = unit.bytes;
  unit_name_ = unit.name;
  byte_ticks_ = ByteTicks(lowest, highest, unit.bytes);
  lowest_ = byte_ticks_.front();
  highest_ = byte_ticks_.back();
  first_second_ = extent.first_second;
  last_second_ = std::max(extent.last_second, first_second_ + 1e-6);
}

void SvgPlot::PrintText(double x, double y, absl::string_view attributes,
                        absl::string_view text) const {
  output_.Append(absl::StrFormat("<text x=\"%.1f\" y=\"%.1f\" %s>%s</text>\n",
                                 x, y, attributes, XmlText(text)));
}

void SvgPlot::PrintHead(absl::string_view title, absl::string_view subtitle,
                        size_t legend_rows) const {
  const double height = layout_.legend_top() +
                        layout_.legend_row * static_cast<double>(legend_rows) +
                        8;
  output_.Append(absl::StrFormat(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
      "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
      "font-family=\"DejaVu Sans, Verdana, Arial, sans-serif\" "
      "font-size=\"%.0f\" fill=\"%s\">\n<title>%s</title>\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
      layout_.width, height, layout_.width, height, layout_.font, kInk,
      XmlText(title)));
  // A long title is printed smaller, but not below kFewestTitle.
  const double wide = kBoldness * TextWidth(title, layout_.title_font);
  const double room = layout_.width - layout_.left - 4;
  PrintText(layout_.left, 32,
            absl::StrFormat(
                "font-size=\"%.0f\" font-weight=\"bold\"",
                wide <= room
                    ? layout_.title_font
                    : std::max(kFewestTitle,
                               std::floor(layout_.title_font * room / wide))),
            title);
  double y = 54;
  // SVG does not break lines: each line of the subtitle is a text of its own.
  for (size_t begin = 0; begin <= subtitle.size(); y += kSubtitleRow) {
    const size_t end = std::min(subtitle.find('\n', begin), subtitle.size());
    PrintText(layout_.left, y, absl::StrCat("fill=\"", kSoft, "\""),
              subtitle.substr(begin, end - begin));
    begin = end + 1;
  }
}

void SvgPlot::PrintGrid() const {
  output_.Append("<g stroke=\"#d8dee4\" stroke-width=\"1\">\n");
  for (const double bytes : byte_ticks_) {
    output_.Append(absl::StrFormat(
        "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
        layout_.left, Y(bytes), layout_.width - layout_.right, Y(bytes)));
  }
  output_.Append("</g>\n");
}

void SvgPlot::PrintAxes() const {
  const double bottom = layout_.bottom();
  const double byte_step = (byte_ticks_[1] - byte_ticks_[0]) / unit_bytes_;
  for (const double bytes : byte_ticks_) {
    PrintText(layout_.left - 8, Y(bytes) + 4.5, "text-anchor=\"end\"",
              absl::StrCat(TickText(bytes / unit_bytes_, byte_step), " ",
                           unit_name_));
  }
  const double step =
      RoundTicks(last_second_ - first_second_, 1, layout_.time_ticks)[1];
  // Ticks are at round times, so the first may be after the plot's left edge.
  const double first_tick = std::ceil(first_second_ / step - 1e-9) * step;
  for (int i = 0; i < kMostTicks; ++i) {
    const double seconds = first_tick + i * step;
    if (seconds > last_second_ * (1 + 1e-9)) break;
    const double x = X(seconds);
    output_.Append(
        absl::StrFormat("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" "
                        "stroke=\"%s\"/>\n",
                        x, bottom, x, bottom + 5, kSoft));
    PrintText(x, bottom + 20, "text-anchor=\"middle\"",
              TickText(seconds, step));
  }
  output_.Append(absl::StrFormat(
      "<path d=\"M%.1f %.1fV%.1fH%.1f\" fill=\"none\" stroke=\"%s\"/>\n",
      layout_.left, layout_.top, bottom, layout_.width - layout_.right, kSoft));
  PrintText(layout_.left + layout_.plot_width() / 2, bottom + 40,
            absl::StrCat("text-anchor=\"middle\" fill=\"", kSoft, "\""),
            "seconds since the start");
}

std::string SvgPlot::LineSwatch(double y, absl::string_view color,
                                absl::string_view dashes) const {
  return absl::StrFormat(
      "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
      "stroke-width=\"2\"%s/>\n",
      layout_.left, y - 4.5, layout_.left + 14, y - 4.5, color,
      dashes.empty() ? "" : absl::StrCat(" stroke-dasharray=\"", dashes, "\""));
}

void SvgPlot::PrintLegendRow(double y, absl::string_view swatch,
                             absl::string_view label, absl::string_view detail,
                             absl::string_view shown) const {
  output_.Append(absl::StrCat("<g class=\"legend\"><title>", XmlText(label),
                              "</title>\n", swatch));
  // The label gets what the detail at the right leaves. Widths of letters
  // differ, so columns are taken off one by one.
  const double room = layout_.plot_width() - kLegendText - kLegendGap -
                      TextWidth(detail, layout_.font);
  const std::string whole = TerminalText(shown.empty() ? label : shown);
  std::string text = CutLabel(whole, kMostLegendColumns, /*unicode=*/true);
  for (size_t columns = ColumnsOf(text);
       columns > kFewestLegendColumns &&
       TextWidth(text, layout_.font) > room;) {
    text = CutLabel(whole, --columns, /*unicode=*/true);
  }
  PrintText(layout_.left + kLegendText, y, "", text);
  PrintText(layout_.width - layout_.right, y,
            absl::StrCat("text-anchor=\"end\" fill=\"", kSoft, "\""), detail);
  output_.Append("</g>\n");
}

// An SVG cannot measure text, and fonts differ. So letters have upper widths by
// class, in thousandths of the font's size; those from U+0300 on count as wide.
double TextWidth(absl::string_view text, double font) {
  double width = 0;
  while (!text.empty()) {
    const Rune rune = FirstRune(text);
    const char c = rune.value < 128 ? static_cast<char>(rune.value) : ' ';
    width += rune.value >= 0x300                  ? 1000
             : rune.value >= 128                  ? 800
             : absl::StrContains("iIjJl'", c)     ? 300
             : absl::StrContains(" .,:;/|-!f", c) ? 360
             : absl::StrContains("()[]{}tr", c)   ? 415
             : c == '_' || c == 's'               ? 530
             : absl::StrContains("mW@%", c)       ? 1000
             : absl::StrContains("<>=+#~wMOQ", c) ? 865
             : absl::ascii_isupper(c)             ? 750
                                                  : 640;
    text.remove_prefix(rune.size);
  }
  return width * font / 1000;
}

std::string XmlText(absl::string_view text) {
  // Line ends are for tooltips; XML forbids other control characters.
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
  // The step is the least of 1, 2, 5 and 10 times a power of ten that makes
  // `about` ticks or fewer.
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

}  // namespace pymemrun
