// A call tree as people read it in a terminal: `pymemreport heap --as tree`.
#ifndef PYMEMRUN_READERS_PLACES_TREE_TEXT_H_
#define PYMEMRUN_READERS_PLACES_TREE_TEXT_H_

#include <cstdint>
#include <string>

#include "readers/output/terminal.h"
#include "readers/places/place_tree.h"

namespace pymemrun {

// A line for each of the `limit` frames with the most bytes (0: all), below its
// caller: bytes, share of the whole, a line to the caller, and the frame. One
// that calls frames which are not shown is marked as closed. Each line is
// ended, and as wide as the terminal at most.
std::string TreeText(const PlaceTree& tree, uint64_t limit,
                     const Terminal& terminal);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PLACES_TREE_TEXT_H_
