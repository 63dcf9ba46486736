// The tree of dominators as a picture.
#ifndef PYMEMRUN_READERS_OBJECTS_COMMANDS_DOMINATOR_PICTURE_H_
#define PYMEMRUN_READERS_OBJECTS_COMMANDS_DOMINATOR_PICTURE_H_

#include "readers/objects_findings/analysis.h"
#include "readers/output/output_buffer.h"

namespace pymemrun {

// Boxes within boxes, as SVG: what `top` keeps alive. Small objects of one box
// stand together.
void DrawDominators(NodeId top, ObjectAnalysis* analysis, OutputBuffer* output);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_COMMANDS_DOMINATOR_PICTURE_H_
