// The details of nodes as bytes: one node behind the other, each with what it
// has.
#ifndef PYMEMRUN_READERS_OBJECTS_NODE_DETAILS_H_
#define PYMEMRUN_READERS_OBJECTS_NODE_DETAILS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "format/objects/object_node.h"
#include "readers/objects/dump_facts.h"

namespace pymemrun {

void AppendNodeDetails(const ObjectNode& node, std::string* bytes);
void AppendNodeDetails(const NodeDetails& details, std::string* bytes);
// Takes those of a node off the front. REQUIRES: they were written here.
NodeDetails TakeNodeDetails(absl::string_view* bytes);
// The same of bytes from elsewhere. False: they are none.
bool SkipNodeDetails(absl::string_view* bytes);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_NODE_DETAILS_H_
