// Reads a dump of the object graph into memory.
#ifndef PYMEMRUN_READERS_OBJECTS_GRAPH_DUMP_LOADER_H_
#define PYMEMRUN_READERS_OBJECTS_GRAPH_DUMP_LOADER_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "format/records/record_visitor.h"
#include "format/stream/byte_io.h"
#include "readers/objects/graph/object_graph.h"
#include "readers/run/console.h"

namespace pymemrun {

// The name of the root's reference to the objects that only the cycle collector
// knows.
inline constexpr char kNotReached[] = "gc tracked, not reached";

// Fills a graph from the records of a dump. Not thread safe.
class DumpLoader : public RecordVisitor {
 public:
  explicit DumpLoader(ObjectGraph* graph) : graph_(*graph) {}

  void OnHeader(const Header& header) override;
  void OnObjectsBegin(const ObjectsBegin& begin) override;
  void OnObjectType(const ObjectTypeDef& type) override;
  void OnObjectName(const ObjectNameDef& name) override;
  bool OnObjects(const ObjectNode* nodes, size_t count) override;
  bool OnReferences(const ObjectReference* references, size_t count) override;
  void OnObjectsEnd(const ObjectsEnd& end) override;
  void OnDamage(const StreamReader::Damage& damage) override;
  // Receives damage; null: it is not reported.
  void TellDamage(DamageTeller* teller) { teller_ = teller; }
  // Rejects more objects and references than a file of this size can hold.
  // `source` must outlive the loading.
  void BoundBy(const FdSource* source) { source_ = source; }
  // To be called after reading. Fails if there is too much, or nothing.
  absl::Status Finish();

 private:
  // Nodes that the file numbers consecutively from this number on.
  struct Stretch {
    uint64_t number;
    uint64_t end;
    NodeId node;
  };
  NodeId NodeOf(uint64_t number) const;
  // Returns false if `more` objects and references would be too many.
  bool MayHold(size_t more);

  ObjectGraph& graph_;
  DamageTeller* teller_ = nullptr;
  const FdSource* source_ = nullptr;
  std::vector<Stretch> stretches_;
  absl::Status status_;
  bool has_begin_ = false;
};

// Prints how the dump ended, unless it is complete.
void SayDumpEnd(const std::string& name, const ObjectGraph& graph,
                const Console& console);

// Loads the dump at `path` as far as it can be read. Fails if nothing can be.
absl::StatusOr<std::unique_ptr<ObjectGraph>> LoadObjectFile(
    const std::string& path);

// The same, but prints what is wrong. Returns null if nothing could be read;
// *code becomes the exit status. Without `details` the graph has only types and
// sizes.
std::unique_ptr<ObjectGraph> LoadObjects(const std::string& path,
                                         const Console& console, int* code,
                                         bool details = true);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_GRAPH_DUMP_LOADER_H_
