// A tree as boxes within boxes, as a self-contained SVG: `pymemobj dominators --treemap`.
#ifndef PYMEMRUN_READERS_PICTURES_CHART_TREEMAP_H_
#define PYMEMRUN_READERS_PICTURES_CHART_TREEMAP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "readers/output/output_buffer.h"

namespace pymemrun {

// Texts may be anything: they are made harmless and escaped by the printing.
struct Treemap {
  struct Box {
    std::string label;
    std::string detail;   // before it: "29.4 MiB"
    std::string tip;      // the rest of what is shown for the pointer
    uint32_t parent = 0;  // index of a box before it; the first has none
    uint32_t group = 0;   // index in `groups`
    double weight = 0;    // of a box at least those of its children together
  };
  struct Group {
    std::string label, color;
  };
  std::string title, subtitle;
  std::vector<Box> boxes;
  std::vector<Group> groups;
};

struct TreemapArea {
  double x = 0, y = 0, width = 0, height = 0;
};

// Where each box stands. Within a box its children stand side by side, as large
// as their weights; what is left of it stands for its own weight. Boxes that
// would be too small to see have no area, and no more have those within.
std::vector<TreemapArea> LayOut(const Treemap& map, const TreemapArea& whole);

void PrintTreemap(const Treemap& map, OutputBuffer* output);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PICTURES_CHART_TREEMAP_H_
