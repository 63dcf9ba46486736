// --where: which objects a report shows.
#ifndef PYMEMRUN_READERS_OBJECTS_GRAPH_NODE_FILTER_H_
#define PYMEMRUN_READERS_OBJECTS_GRAPH_NODE_FILTER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "readers/objects/graph/object_graph.h"

namespace pymemrun {

// A conjunction of conditions on an object. Synthetic nodes meet none.
class NodeFilter {
 public:
  // Adds "type=dict", "module!=app.*", "value=GET *", "line=cache.py:4",
  // "size>=1M" or "length<10". Text is a pattern with * ? [...]. A type may be
  // given without its module, and a line without its folder. Fails with what is
  // wrong.
  absl::Status Add(absl::string_view condition);
  bool any() const { return !conditions_.empty(); }
  // Whether it needs allocations. An unknown line meets no condition.
  bool has_line() const;

  bool Matches(const ObjectGraph& graph, NodeId node) const;

 private:
  enum class Field { kType, kModule, kValue, kLine, kSize, kLength };
  enum class Operator { kIs, kIsNot, kAbove, kAtLeast, kBelow, kAtMost };
  struct Condition {
    Field field;
    Operator op;
    std::string pattern;
    uint64_t number = 0;
  };
  // Takes field and operator off the front.
  static bool TakeWords(absl::string_view* rest, Condition* made);
  static bool Meets(const Condition& condition, const ObjectGraph& graph,
                    NodeId node);

  std::vector<Condition> conditions_;
};

// Whether `pattern` matches the type's name, with its module or without.
bool TypeMatches(const ObjectGraph& graph, uint32_t type,
                 const std::string& pattern);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_GRAPH_NODE_FILTER_H_
