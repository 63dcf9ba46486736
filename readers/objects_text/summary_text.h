// The sentences that summaries of a dump begin with.
#ifndef PYMEMRUN_READERS_OBJECTS_TEXT_SUMMARY_TEXT_H_
#define PYMEMRUN_READERS_OBJECTS_TEXT_SUMMARY_TEXT_H_

#include <string>

#include "readers/objects/object_graph.h"

namespace pymemrun {

// "3,621,044 objects of 412 types take 496.8 MiB. ..." and of what process and
// moment they are, as far as it is known.
std::string SummaryText(const ObjectGraph& graph);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_TEXT_SUMMARY_TEXT_H_
