// Draws a call tree as a flame graph: `pymemreport flame`.
#ifndef PYMEMRUN_READERS_PICTURES_CHART_FLAME_GRAPH_H_
#define PYMEMRUN_READERS_PICTURES_CHART_FLAME_GRAPH_H_

#include <string>

#include "readers/places/place_tree.h"

namespace pymemrun {

// The words of a flame graph.
struct FlameTexts {
  std::string title;
  std::string subtitle;
  bool counts_are_estimates = false;  // counts of blocks
};

// Prints a self-contained SVG: callers above what they call, as wide as their
// bytes or times. Its script zooms and searches. Leaves out frames below a ten
// thousandth of the whole, deeper than 500, or beyond the 100,000 largest.
void PrintFlame(const PlaceTree& tree, const FlameTexts& texts,
                OutputBuffer* output);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PICTURES_CHART_FLAME_GRAPH_H_
