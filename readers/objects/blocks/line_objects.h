// The live bytes of lines as objects: their types and holders.
#ifndef PYMEMRUN_READERS_OBJECTS_BLOCKS_LINE_OBJECTS_H_
#define PYMEMRUN_READERS_OBJECTS_BLOCKS_LINE_OBJECTS_H_

#include <cstdint>
#include <vector>

#include "readers/objects/findings/analysis.h"
#include "readers/places/place_table.h"
#include "readers/replay/heap/heap_replay.h"

namespace pymemrun {

// One line of the user's own code.
struct LineObjects {
  // Objects of one type in its blocks.
  struct Part {
    uint32_t type = 0;
    // Sums over blocks. An object counts at its larger block (own, or beside
    // it), or at the one whose line is certain. With samples, what all lines
    // have of a holder and type adds up to at most what the dump has of them.
    HeapSums sums;
    // Objects in blocks that an earlier object may have been made in.
    double reused = 0;
    // The holder of most of these bytes, see HoldersOf(), and its bytes.
    // kNoNode: they are held directly by modules and the like.
    NodeId holder = kNoNode;
    double holder_bytes = 0;
  };
  Place line;  // names live as long as the replay and the table
  HeapSums live;
  std::vector<Part> parts;  // most bytes first
  // Blocks that no object uses: memory of C code.
  double rest_bytes = 0;
};

// The lines with live bytes, most first. REQUIRES: the replay has been read up
// to the dump's moment.
std::vector<LineObjects> ObjectsByLine(const HeapReplay& replay,
                                       ObjectAnalysis* analysis,
                                       PlaceTable* places);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_BLOCKS_LINE_OBJECTS_H_
