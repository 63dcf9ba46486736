#include "readers/pictures/chart/treemap.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "readers/pictures/chart/svg_plot.h"
#include "text/fitted_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

constexpr TreemapArea kWhole = {12, 64, 1176, 660};
constexpr double kMapWidth = 1200, kLegendRow = 24, kMapLetter = 6.9;
constexpr double kFont = 12, kTitleRow = 17, kEdge = 2;
constexpr double kLeast = 3;  // least width and height of a box
constexpr size_t kMostMapLetters = 500;
constexpr size_t kMostTitle = 200, kFewestLetters = 4;  // of a label in a box
constexpr int kSizeLetters = 8;                         // "29.4 MiB"

// The area for the children: below the title, if that fits.
TreemapArea Inside(const TreemapArea& area) {
  const bool has_title =
      area.width >= kSizeLetters * kMapLetter + 8 && area.height >= 30;
  const double top = has_title ? kTitleRow : kEdge;
  return {area.x + kEdge, area.y + top, std::max(area.width - 2 * kEdge, 0.0),
          std::max(area.height - top - kEdge, 0.0)};
}

// How far the worst box of a row along `side` is from a square: the larger
// ratio of its sides. The row is sum / side deep, so a box of area a is a x
// side / sum long. `least` and `most` are the extreme areas.
double Worst(double least, double most, double sum, double side) {
  const double square = sum * sum, edge = side * side;
  return std::max(edge * most / square, square / (edge * least));
}

// Fills `left` with boxes of these areas, the largest first, row by row. A row
// is extended while its boxes come nearer to squares (Bruls, Huizing, van Wijk:
// Squarified Treemaps, 2000).
std::vector<TreemapArea> Squarified(absl::Span<const double> areas,
                                    TreemapArea left) {
  std::vector<TreemapArea> placed;
  while (placed.size() < areas.size()) {
    const size_t begin = placed.size();
    const double side = std::min(left.width, left.height);
    double sum = areas[begin];
    size_t end = begin + 1;
    while (end < areas.size() &&
           Worst(areas[end], areas[begin], sum + areas[end], side) <=
               Worst(areas[end - 1], areas[begin], sum, side)) {
      sum += areas[end++];
    }
    const double depth = side > 0 ? sum / side : 0;
    double at = 0;
    // The row is placed as a column.
    const bool stands = left.width >= left.height;
    for (size_t i = begin; i < end; ++i) {
      const double length = depth > 0 ? areas[i] / depth : 0;
      placed.push_back(stands
                           ? TreemapArea{left.x, left.y + at, depth, length}
                           : TreemapArea{left.x + at, left.y, length, depth});
      at += length;
    }
    if (stands) {
      left.x += depth;
      left.width = std::max(left.width - depth, 0.0);
    } else {
      left.y += depth;
      left.height = std::max(left.height - depth, 0.0);
    }
  }
  return placed;
}

// Places the boxes of children within that of their parent. Their areas are
// proportional to weights there. A box below kLeast keeps an empty area:
// neither it nor its children are drawn.
void PlaceChildren(const Treemap& map, uint32_t parent,
                   std::vector<uint32_t> children,
                   std::vector<TreemapArea>* areas) {
  const TreemapArea inside = Inside((*areas)[parent]);
  double own = map.boxes[parent].weight;
  for (const uint32_t child : children) own -= map.boxes[child].weight;
  const double unit =
      inside.width * inside.height / std::max(map.boxes[parent].weight, 1e-9);
  // Here the parent takes the area of its own weight.
  if (own > 0) children.push_back(parent);
  const auto weight = [&](uint32_t box) {
    return box == parent ? own : map.boxes[box].weight;
  };
  std::sort(children.begin(), children.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(weight(b), a) < std::pair(weight(a), b);
  });
  std::vector<double> sizes;
  for (const uint32_t child : children) sizes.push_back(weight(child) * unit);
  const auto placed = Squarified(sizes, inside);
  for (size_t i = 0; i < children.size(); ++i) {
    if (children[i] == parent) continue;
    if (placed[i].width < kLeast || placed[i].height < kLeast) continue;
    (*areas)[children[i]] = placed[i];
  }
}

// As much of a label as fits; empty if that is too little.
std::string Cut(const std::string& label, double width) {
  std::string cut = CutToColumns(label, kMostTitle);
  for (size_t columns = ColumnsOf(cut); TextWidth(cut, kFont) > width;) {
    if (--columns < kFewestLetters) return "";
    cut = CutToColumns(label, columns);
  }
  return cut;
}

// The title of a box: its size, and a label if it fits after the size, or below
// it in a box without children.
struct Title {
  std::string first, second;
};
Title TitleOf(const Treemap::Box& box, const TreemapArea& area, bool is_leaf) {
  const double room = area.width - 8;
  const double left = room - TextWidth(box.detail, kFont);
  if (left < 0 || area.height < kFont + 3) return {};
  const std::string behind = Cut(box.label, left - TextWidth(" ", kFont));
  if (is_leaf && area.height >= 2 * kTitleRow && behind != box.label) {
    return {box.detail, Cut(box.label, room)};
  }
  return {absl::StrCat(box.detail, behind.empty() ? "" : " ", behind), ""};
}

void PrintBox(const Treemap& map, uint32_t at, const TreemapArea& area,
              bool is_leaf, OutputBuffer* output) {
  const Treemap::Box& box = map.boxes[at];
  const std::string tip = absl::StrCat(
      ShortTerminalText(box.label, kMostMapLetters, /*keep_end=*/false), "\n",
      box.detail, box.tip.empty() ? "" : "\n",
      ShortTerminalText(box.tip, kMostMapLetters, /*keep_end=*/false));
  output->Append(absl::StrFormat(
      "<g class=\"box\" data-w=\"%.0f\" data-parent=\"%d\"><title>%s</title>"
      "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
      "fill=\"%s\" stroke=\"#ffffff\"/>",
      box.weight, box.parent, XmlText(tip), area.x, area.y, area.width,
      area.height, map.groups[box.group].color));
  const Title title = TitleOf(box, area, is_leaf);
  double y = area.y + kFont + 1;
  for (const std::string& line : {title.first, title.second}) {
    if (line.empty()) continue;
    output->Append(absl::StrFormat("<text x=\"%.2f\" y=\"%.2f\">%s</text>",
                                   area.x + 4, y, XmlText(line)));
    y += kTitleRow - 2;
  }
  output->Append("</g>\n");
}

void PrintHead(const Treemap& map, double height, OutputBuffer* output) {
  output->Append(absl::StrFormat(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
      "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
      "font-family=\"DejaVu Sans, Verdana, Arial, sans-serif\" "
      "font-size=\"%.0f\" fill=\"%s\">\n<title>%s</title>\n"
      "<style>.box:hover>rect{stroke:#24292f}text{pointer-events:none}</style>"
      "\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
      kMapWidth, height, kMapWidth, height, kFont, kInk, XmlText(map.title)));
  output->Append(absl::StrFormat(
      "<text x=\"%.0f\" y=\"28\" font-size=\"19\" font-weight=\"bold\">%s"
      "</text>\n<text x=\"%.0f\" y=\"50\" font-size=\"13\" fill=\"%s\">%s"
      "</text>\n",
      kWhole.x, XmlText(map.title), kWhole.x, kSoft, XmlText(map.subtitle)));
}

// Prints entries side by side, in as many rows as needed. Returns the lower
// end.
double PrintLegend(const Treemap& map, double y, OutputBuffer* output) {
  double x = kWhole.x;
  for (const Treemap::Group& group : map.groups) {
    const std::string label =
        ShortTerminalText(group.label, 40, /*keep_end=*/false);
    const double width = 34 + static_cast<double>(ColumnsOf(label)) * 7.4;
    if (x > kWhole.x && x + width > kMapWidth) {
      x = kWhole.x;
      y += kLegendRow;
    }
    output->Append(absl::StrFormat(
        "<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"12\" rx=\"2\" "
        "fill=\"%s\"/><text x=\"%.1f\" y=\"%.1f\">%s</text>\n",
        x, y - 10.5, group.color, x + 20, y, XmlText(label)));
    x += width;
  }
  return y;
}

}  // namespace

// Boxes come after their parents, so one pass places all of them.
std::vector<TreemapArea> LayOut(const Treemap& map, const TreemapArea& whole) {
  std::vector<TreemapArea> areas(map.boxes.size());
  if (map.boxes.empty()) return areas;
  std::vector<std::vector<uint32_t>> children(map.boxes.size());
  for (uint32_t box = 1; box < map.boxes.size(); ++box) {
    children[map.boxes[box].parent].push_back(box);
  }
  areas[0] = whole;
  for (uint32_t box = 0; box < map.boxes.size(); ++box) {
    if (children[box].empty() || areas[box].width <= 0) continue;
    PlaceChildren(map, box, std::move(children[box]), &areas);
  }
  return areas;
}

void PrintTreemap(const Treemap& map, OutputBuffer* output) {
  const std::vector<TreemapArea> areas = LayOut(map, kWhole);
  const double rows = 1 + static_cast<double>(map.groups.size()) / 6;
  const double legend = kWhole.y + kWhole.height + 26;
  PrintHead(map, legend + rows * kLegendRow, output);
  // A box whose children are too small to draw counts as a leaf: its title may
  // use two lines.
  std::vector<bool> has_boxes(map.boxes.size());
  for (uint32_t box = 1; box < map.boxes.size(); ++box) {
    if (areas[box].width > 0) has_boxes[map.boxes[box].parent] = true;
  }
  for (uint32_t box = 0; box < map.boxes.size(); ++box) {
    if (areas[box].width <= 0) continue;
    PrintBox(map, box, areas[box], !has_boxes[box], output);
  }
  PrintLegend(map, legend, output);
  output->Append("</svg>\n");
}

}  // namespace pymemrun
