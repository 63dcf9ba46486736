// What is next to an object.
#ifndef PYMEMRUN_READERS_OBJECTS_COMMANDS_NEIGHBOURS_H_
#define PYMEMRUN_READERS_OBJECTS_COMMANDS_NEIGHBOURS_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "readers/objects_findings/analysis.h"

namespace pymemrun {

enum class NextTo {
  kParents,   // what refers to it
  kChildren,  // what it refers to
  kRefs,      // its attributes, or a dictionary's entries, by their names
};

// An object next to another, and how that refers to it.
struct Neighbour {
  std::string reference;
  NodeId node;
};
// Hands `add` one after the other, until it returns false. Returns a sentence
// that says how many there are. References without a name are left out of
// kRefs.
std::string FindNeighbours(NextTo what, NodeId node, ObjectAnalysis* analysis,
                           absl::FunctionRef<bool(Neighbour)> add);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_COMMANDS_NEIGHBOURS_H_
