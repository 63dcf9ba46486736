// Reads dumps of Meliae, an older tool: one JSON object a line.
#ifndef PYMEMRUN_READERS_OBJECTS_MELIAE_LOADER_H_
#define PYMEMRUN_READERS_OBJECTS_MELIAE_LOADER_H_

#include "absl/status/status.h"
#include "readers/objects/object_graph.h"
#include "readers/objects/peeked_source.h"

namespace pymemrun {

// Whether it begins as JSON lines do, or as gzip, which those may be packed
// with.
bool LooksLikeMeliae(PeekedSource* source);

// Fills an empty graph, and makes a root. References have kinds as far as the
// types tell. References to objects that have no line are left out and counted.
// Lines that are wrong are left out, and what follows where the file cannot be
// unpacked: DumpFacts.damage says it. Fails where no line is right.
absl::Status LoadMeliae(ByteSource* source, ObjectGraph* graph);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_MELIAE_LOADER_H_
