#include "readers/export/objects/perfetto_heap.h"

#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "readers/export/objects/folded_leaves.h"
#include "readers/objects/graph/object_text.h"
#include "readers/perfetto_heap.pb.h"

namespace pymemrun {
namespace {

// The usual size of a packet; a single object may exceed it. Perfetto joins
// packets with `continued` into one graph.
constexpr size_t kPacketBytes = 256 << 10;
constexpr uint32_t kGraphSequence = 1;
// Perfetto's ROOT_VM_INTERNAL.
constexpr int kRootOfInterpreter = 13;

class HeapWriter {
 public:
  HeapWriter(const ObjectGraph& graph, uint64_t most_nodes,
             OutputBuffer* output)
      : graph_(graph), leaves_(graph, most_nodes), output_(*output) {}

  // Types and names are defined before the objects that use them.
  uint64_t Write() {
    pid_ = static_cast<int32_t>(graph_.facts().header.pid());
    if (pid_ == 0) pid_ = 1;  // Perfetto ignores process 0
    WriteProcess();
    WriteTypes();
    for (NodeId node = 0; node < graph_.nodes(); ++node) {
      if (!leaves_.IsFolded(node)) WriteObject(node);
    }
    perfetto::Root* const root = packet_.add_roots();
    root->add_objects(IdOf(kRootNode));
    root->set_kind(kRootOfInterpreter);
    EndPacket(/*is_last=*/true);
    return leaves_.count();
  }

 private:
  static uint64_t IdOf(NodeId node) { return uint64_t{node} + 1; }

  void Print(const perfetto::Packet& packet) {
    perfetto::Trace trace;
    *trace.add_packets() = packet;
    output_.Append(trace.SerializeAsString());
  }
  // The process tree names the process whose heap this is.
  void WriteProcess() {
    perfetto::Packet packet;
    packet.set_sequence(kGraphSequence);
    packet.set_timestamp_ns(TimeNs());
    perfetto::Process* const process =
        packet.mutable_process_tree()->add_processes();
    process->set_pid(pid_);
    for (const std::string& argument : graph_.facts().header.argv()) {
      process->add_command(argument);
    }
    Print(packet);
  }
  // The run's clock, as in PerfettoTrace. Perfetto takes 0 for no time.
  uint64_t TimeNs() const { return graph_.facts().begin.time_us() * 1000 + 1; }

  void WriteTypes() {
    for (uint32_t type = 0; type < graph_.types().size(); ++type) {
      perfetto::Type* const made = packet_.add_types();
      made->set_id(type + 1);
      made->set_name(graph_.type_name(type));
      bytes_ += 16 + made->name().size();
      if (bytes_ > kPacketBytes) EndPacket(/*is_last=*/false);
    }
  }
  // Ids ascend, so only the first object of a packet has its whole id.
  void WriteObject(NodeId node) {
    const uint64_t id = IdOf(node);
    perfetto::Object* const object = packet_.add_objects();
    if (packet_.objects_size() == 1) {
      object->set_id(id);
    } else {
      object->set_id_delta(id - last_id_);
    }
    last_id_ = id;
    object->set_type(graph_.type(node) + 1);
    object->set_size_bytes(leaves_.size_bytes(node));
    for (uint32_t e = graph_.first_edge(node); e < graph_.first_edge(node + 1);
         ++e) {
      const NodeId target = graph_.target(e);
      if (graph_.kind(e) == EDGE_WEAK || leaves_.IsFolded(target)) continue;
      object->add_fields(FieldOf(e));
      object->add_targets(IdOf(target));
    }
    bytes_ += 16 + 8 * object->targets_size();
    if (bytes_ > kPacketBytes) EndPacket(/*is_last=*/false);
  }
  // In Perfetto a field's name is "type name".
  uint64_t FieldOf(uint32_t edge) {
    std::string text = EdgeKindName(graph_.kind(edge));
    const NodeId key = KeyOf(graph_, edge);
    if (!graph_.edge_name(edge).empty()) {
      absl::StrAppend(&text, " ", graph_.edge_name(edge));
    } else if (key != kNoNode) {
      absl::StrAppend(&text, " [", ValueText(graph_, key), "]");
    }
    const auto [found, is_new] = fields_.try_emplace(text, fields_.size() + 1);
    if (is_new) {
      bytes_ += 16 + text.size();
      perfetto::Name* const name = packet_.add_field_names();
      name->set_id(found->second);
      name->set_text(std::move(text));
    }
    return found->second;
  }
  // The index of packets and `continued` let Perfetto notice a missing one.
  void EndPacket(bool is_last) {
    perfetto::Packet packet;
    packet.set_sequence(kGraphSequence);
    packet.set_timestamp_ns(TimeNs());
    packet_.set_pid(pid_);
    packet_.set_index(index_++);
    packet_.set_continued(!is_last);
    packet.mutable_heap_graph()->Swap(&packet_);
    Print(packet);
    packet_.Clear();
    bytes_ = 0;
  }

  const ObjectGraph& graph_;
  const FoldedLeaves leaves_;
  OutputBuffer& output_;
  int32_t pid_ = 0;
  perfetto::HeapGraph packet_;  // being filled
  size_t bytes_ = 0;            // its approximate size
  uint64_t index_ = 0, last_id_ = 0;
  absl::flat_hash_map<std::string, uint64_t> fields_;
};

}  // namespace

uint64_t WritePerfettoHeap(const ObjectGraph& graph, uint64_t most_nodes,
                           OutputBuffer* output) {
  return HeapWriter(graph, most_nodes, output).Write();
}

}  // namespace pymemrun
