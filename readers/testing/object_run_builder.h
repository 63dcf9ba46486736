// Writes object dumps from a graph that is given in any order. For tests.
#ifndef PYMEMRUN_READERS_TESTING_OBJECT_RUN_BUILDER_H_
#define PYMEMRUN_READERS_TESTING_OBJECT_RUN_BUILDER_H_

#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "format/objects/object_node.h"
#include "format/stream/byte_io.h"
#include "format/trace.pb.h"

namespace pymemrun {

// Node 0 is the root. Addresses are 0x1000 and on, 0x100 apart, in the order of
// the nodes. Not thread safe. Aborts when what it writes breaks the rules.
class ObjectRunBuilder {
 public:
  using Node = uint32_t;
  static constexpr Node kRoot = 0;

  ObjectRunBuilder();

  // A type by its name, "queue.Queue"; the same one for the same name.
  uint32_t Type(const std::string& name, bool synthetic = false);
  // What its objects have before them in their blocks.
  void SetHead(const std::string& type, uint32_t bytes);
  Node Add(const std::string& type, uint64_t size_bytes,
           const std::optional<std::string>& text = std::nullopt,
           std::optional<uint64_t> length = std::nullopt);
  // A string of this value, which is cut as dumps do.
  Node AddText(const std::string& text, const std::string& type = "str");
  Node AddGroup(const std::string& name);
  ObjectNode& node(Node node) { return nodes_[node].node; }
  void Refer(Node from, Node to, EdgeKind kind, const std::string& name = "");
  // The references of a dict's entry.
  void Put(Node dict, Node key, Node value);
  uint64_t AddressOf(Node node) const { return nodes_[node].node.address; }

  ObjectsBegin& begin() { return begin_; }
  ObjectsEnd& end() { return end_; }
  Header& header() { return header_; }
  // The whole dump. Nodes that no reference leads to are left out.
  std::string Write() const;

 private:
  struct Reference {
    Node to;
    EdgeKind kind;
    uint32_t name;
  };
  struct Described {
    ObjectNode node;
    std::optional<std::string> text;
    std::vector<Reference> references;
  };

  Header header_;
  ObjectsBegin begin_;
  ObjectsEnd end_;
  std::map<std::string, uint32_t> types_, names_;
  std::vector<Record> definitions_;
  std::vector<Described> nodes_;
};

// Writes the dump of a graph that is told in lines. "n ADDRESS SIZE TYPE LENGTH
// TEXT" is a node, from 1 on; "-" stands for a length or a text that it has
// not, and TEXT goes on to the end of the line. "e FROM TO KIND" is a
// reference; the root is 0.
absl::Status BuildDescribedGraph(std::istream* in, ByteSink* out);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TESTING_OBJECT_RUN_BUILDER_H_
