// What the live bytes of lines are: the types of objects, and who holds them.
#ifndef PYMEMRUN_READERS_OBJECTS_BLOCKS_LINE_OBJECTS_H_
#define PYMEMRUN_READERS_OBJECTS_BLOCKS_LINE_OBJECTS_H_

#include <cstdint>
#include <vector>

#include "readers/objects/findings/analysis.h"
#include "readers/places/place_table.h"
#include "readers/replay/heap/heap_replay.h"

namespace pymemrun {

// Of one line of the user's own code.
struct LineObjects {
  // Objects of a type that lie in its blocks.
  struct Part {
    uint32_t type = 0;
    // Of the blocks. An object counts where the larger of its two blocks is,
    // or the one whose line is sure. Of a sample, all that a holder has of a
    // type come to what the dump has of these, and never to more.
    HeapSums sums;
    // How many lie in a block that an earlier object may have been made in.
    double reused = 0;
    // Who holds most of these bytes, see HoldersOf(), and how many. kNoNode:
    // modules and the like hold them themselves.
    NodeId holder = kNoNode;
    double holder_bytes = 0;
  };
  Place line;  // names live as long as the replay and the table
  HeapSums live;
  std::vector<Part> parts;  // most bytes first
  // In blocks that no object uses: memory of C code.
  double rest_bytes = 0;
};

// The lines that have live bytes, those that have most first. REQUIRES: the
// replay has been read up to the dump's moment.
std::vector<LineObjects> ObjectsByLine(const HeapReplay& replay,
                                       ObjectAnalysis* analysis,
                                       PlaceTable* places);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_BLOCKS_LINE_OBJECTS_H_
