// Draws a tree as nested boxes, as a self-contained SVG: `pymemobj dominators
// --treemap`.
#ifndef PYMEMRUN_READERS_PICTURES_CHART_TREEMAP_H_
#define PYMEMRUN_READERS_PICTURES_CHART_TREEMAP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "readers/output/output_buffer.h"

namespace pymemrun {

// Texts may be any bytes: printing escapes them.
struct Treemap {
  // A node of the tree.
  struct Box {
    std::string label;
    std::string detail;   // before the label: "29.4 MiB"
    std::string tip;      // the rest of the tooltip
    uint32_t parent = 0;  // index of an earlier box; the first box has none
    uint32_t group = 0;   // index into `groups`
    double weight = 0;    // at least the sum of its children's weights
  };
  // Boxes of one colour, in the legend.
  struct Group {
    std::string label, color;
  };
  std::string title, subtitle;
  std::vector<Box> boxes;
  std::vector<Group> groups;
};

// A rectangle, in units of the picture.
struct TreemapArea {
  double x = 0, y = 0, width = 0, height = 0;
};

// The area of each box. Children are side by side within their box, in
// proportion to their weights; the rest of the box is its own weight. Boxes
// that would be too small to see, and all boxes within them, have no area.
std::vector<TreemapArea> LayOut(const Treemap& map, const TreemapArea& whole);

// Prints the whole SVG.
void PrintTreemap(const Treemap& map, OutputBuffer* output);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PICTURES_CHART_TREEMAP_H_
