#include "readers/pictures/chart/flame_graph.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "readers/output/whole_number.h"
#include "readers/pictures/chart/flame_script.h"
#include "readers/pictures/chart/svg_plot.h"
#include "readers/places/short_paths.h"
#include "readers/run/own_code.h"
#include "text/fitted_text.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Pixels. kLetter: the mean width of a letter at 12 pixels, with which the
// script works, too.
constexpr double kWidth = 1200, kLeft = 12, kPlotWidth = kWidth - 2 * kLeft;
constexpr double kTop = 84, kRow = 18, kLetter = 6.7;
// A tenth of a pixel. Smaller and deeper frames are left out, so that a browser
// can show the file.
constexpr double kLeastShare = 1e-4;
constexpr uint32_t kMostDepth = 500;
constexpr uint64_t kMostBoxes = 100000;  // the largest
constexpr size_t kMostLetters = 1000;

constexpr char kStyle[] =
    "<style>\n"
    ".f{cursor:pointer}.f:hover rect{stroke:#24292f}\n"
    ".f text{pointer-events:none;font-size:12px}\n"
    ".above{opacity:.55}.hit rect{fill:#b455d9}\n"
    "#reset{cursor:pointer}\n"
    "</style>\n";

// Own code has warm colours; libraries and imports have cool, pale ones. Equal
// names have equal colours, by a hash of the name (32-bit FNV-1a), in all
// pictures.
std::string ColorOf(const Place& place, absl::string_view name) {
  uint32_t hash = 2166136261;
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619;
  }
  if (!place.file.empty() && OwnCode::KindOf(place.file) == OwnCode::kLibrary) {
    return absl::StrFormat("#%02x%02x%02x", 165 + hash % 30,
                           190 + hash / 50 % 25, 205 + hash / 5500 % 40);
  }
  if (place.file.empty()) {
    return absl::StrFormat("#%02x%02x%02x", 200 + hash % 16, 200 + hash % 16,
                           196 + hash % 16);
  }
  return absl::StrFormat("#%02x%02x%02x", 205 + hash % 50,
                         110 + hash / 50 % 110, 50 + hash / 5500 % 60);
}

// A label, or as much of its function as fits. As in the script, a place is
// shown whole or not at all.
std::string Fitting(const std::string& label, double width) {
  const int room = static_cast<int>((width - 6) / kLetter);
  if (room < 3) return "";
  const std::string whole = TerminalText(label);
  const size_t fits = static_cast<size_t>(room);
  return ColumnsOf(whole) <= fits
             ? whole
             : CutToColumns(whole.substr(0, whole.rfind(" (")), fits);
}

struct Box {
  std::string label;
  std::string shown;            // with a short path
  double begin = 0, share = 0;  // of the whole
  uint32_t depth = 0;
  double bytes = 0, count = 0;
  std::string color;
};

// "1.2 MiB in about 4 blocks", "0.123 s in 4 waits".
std::string SizeText(const Box& box, TreeUnit unit, const FlameTexts& texts) {
  const uint64_t count = WholeNumber(box.count);
  if (unit == TreeUnit::kNanos) {
    return absl::StrFormat("%.3f s in %s", box.bytes / 1e9,
                           Counted(count, "wait"));
  }
  return absl::StrCat(HumanBytes(box.bytes), " in ",
                      texts.counts_are_estimates ? "about " : "",
                      Counted(count, "block"));
}

// The script zooms by the exact begin and share in data-x and data-w. It cuts
// the text in data-s anew.
void PrintBox(const Box& box, TreeUnit unit, const FlameTexts& texts,
              OutputBuffer* output) {
  const double x = kLeft + box.begin * kPlotWidth;
  const double width = std::max(box.share * kPlotWidth, 0.3);
  const double y = kTop + box.depth * kRow;
  const std::string tip = absl::StrFormat(
      "%s\n%s, %.2f %%",
      ShortTerminalText(box.label, kMostLetters, /*keep_end=*/false),
      SizeText(box, unit, texts), 100 * box.share);
  output->Append(absl::StrFormat(
      "<g class=\"f\" data-x=\"%.10g\" data-w=\"%.10g\" data-d=\"%d\" "
      "data-b=\"%d\"><title>%s</title><rect x=\"%.2f\" y=\"%.1f\" "
      "width=\"%.2f\" height=\"%.1f\" rx=\"2\" fill=\"%s\"/>"
      "<text data-s=\"%s\" x=\"%.2f\" y=\"%.1f\">%s</text></g>\n",
      box.begin, box.share, box.depth, WholeNumber(box.bytes), XmlText(tip), x,
      y, width, kRow - 1, box.color,
      XmlText(CutToColumns(box.shown, kMostLetters)), x + 3, y + 12.5,
      XmlText(Fitting(box.shown, box.share * kPlotWidth))));
}

// Callers first; children of one caller by size, side by side from its left
// edge. A box that is left out keeps its room, so its siblings do not move.
std::vector<Box> BoxesOf(const PlaceTree& tree) {
  const auto& nodes = tree.nodes();
  const double total = nodes[0].bytes;
  std::vector<Box> boxes = {
      {"all", "all", 0, 1, 0, total, nodes[0].count, ColorOf({}, "all")}};
  if (total <= 0) return boxes;
  std::vector<Place> places = {{}};
  std::vector<absl::string_view> paths;
  // The start of the next child of each box.
  std::vector<double> next(nodes.size(), 0.0);
  for (const uint32_t id : tree.Ordered(kMostBoxes)) {
    const PlaceTree::Node& node = nodes[id];
    const double share = node.bytes / total;
    const double begin = next[node.parent];
    next[node.parent] += share;
    next[id] = begin;
    if (share < kLeastShare || node.depth >= kMostDepth) continue;
    const std::string label = FrameLabelOf(node.place);
    boxes.push_back({label, "", begin, share, node.depth + 1, node.bytes,
                     node.count, ColorOf(node.place, label)});
    places.push_back(node.place);
    paths.push_back(node.place.file);
  }
  // Paths are shortened last, as that depends on all of them.
  const ShortPaths short_paths(paths);
  for (size_t i = 1; i < boxes.size(); ++i) {
    places[i].file = short_paths.Of(places[i].file);
    boxes[i].shown = FrameLabelOf(places[i]);
  }
  return boxes;
}

// A foreignObject holds the search field: SVG has no input of its own. Viewers
// that are no browsers leave it out.
void PrintHead(const FlameTexts& texts, double height, OutputBuffer* output) {
  output->Append(absl::StrFormat(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
      "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
      "font-family=\"DejaVu Sans, Verdana, Arial, sans-serif\" "
      "font-size=\"13\" fill=\"#24292f\">\n<title>%s</title>\n%s"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
      kWidth, height, kWidth, height, XmlText(texts.title), kStyle));
  output->Append(absl::StrFormat(
      "<text x=\"%.0f\" y=\"28\" font-size=\"19\" font-weight=\"bold\">%s"
      "</text>\n<text x=\"%.0f\" y=\"48\" fill=\"#57606a\">%s</text>\n",
      kLeft, XmlText(texts.title), kLeft, XmlText(texts.subtitle)));
  output->Append(absl::StrFormat(
      "<foreignObject x=\"%.0f\" y=\"54\" width=\"260\" height=\"26\">"
      "<input xmlns=\"http://www.w3.org/1999/xhtml\" id=\"search\" "
      "placeholder=\"search\" style=\"width:240px\"/></foreignObject>\n"
      "<text id=\"matched\" x=\"%.0f\" y=\"71\"></text>\n"
      "<text id=\"reset\" x=\"%.0f\" y=\"71\" "
      "style=\"display:none\" text-decoration=\"underline\">show all</text>\n",
      kLeft, kLeft + 270, kLeft + 520));
}

}  // namespace

// The script finds its layout in the attributes of "plot", so numbers are in
// one place.
void PrintFlame(const PlaceTree& tree, const FlameTexts& texts,
                OutputBuffer* output) {
  const std::vector<Box> boxes = BoxesOf(tree);
  uint32_t depth = 0;
  for (const Box& box : boxes) depth = std::max(depth, box.depth);
  const TreeUnit unit = tree.measure().unit;
  PrintHead(texts, kTop + (depth + 1) * kRow + 12, output);
  output->Append(
      absl::StrFormat("<g id=\"plot\" data-left=\"%.0f\" "
                      "data-width=\"%.0f\" data-letter=\"%.1f\"%s>\n",
                      kLeft, kPlotWidth, kLetter,
                      unit == TreeUnit::kNanos ? " data-unit=\"s\"" : ""));
  for (const Box& box : boxes) PrintBox(box, unit, texts, output);
  output->Append(absl::StrCat("</g>\n<script><![CDATA[\n", kFlameScript,
                              "]]></script>\n</svg>\n"));
}

}  // namespace pymemrun
