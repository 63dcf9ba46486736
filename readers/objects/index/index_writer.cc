#include <vector>

#include "format/objects_index.pb.h"
#include "readers/objects/graph/chains.h"
#include "readers/objects/index/index_layout.h"

namespace pymemrun {
namespace {

class IndexWriter {
 public:
  IndexWriter(ObjectAnalysis* analysis, ByteSink* sink)
      : analysis_(*analysis), graph_(analysis->graph()), sink_(sink) {}

  // Computes one result after the other, as each takes memory.
  absl::Status Write(const DumpStamp& stamp) {
    Append(kIndexMagic);
    graph_.arrays().ForEach([this](uint32_t number, const auto* array) {
      AddSection(number, array->span());
    });
    AddSection(StoredFindings::kDominators, analysis_.all_dominators());
    AddSection(StoredFindings::kRetained, analysis_.all_retained());
    const std::string facts = Facts().SerializeAsString();
    AddSection(kFactsSection, absl::MakeConstSpan(facts));
    analysis_.Forget();
    AddParents();
    AddSection(StoredFindings::kDistances,
               absl::MakeConstSpan(Distances(graph_)));
    AddLastEdges();
    Append(EncodeTable(sections_, stamp));
    return status_;
  }

 private:
  void Append(absl::string_view bytes) {
    if (status_.ok()) status_ = sink_->Append(bytes);
    position_ += bytes.size();
  }

  // Pads each array to 8 bytes, so that the next one is aligned when the file
  // is mapped.
  template <typename T>
  void AddSection(uint32_t number, absl::Span<const T> items) {
    const absl::string_view bytes(reinterpret_cast<const char*>(items.data()),
                                  items.size() * sizeof(T));
    sections_.push_back(
        {number, sizeof(T), items.size(), position_, IndexChecksum(bytes)});
    Append(bytes);
    Append(absl::string_view("\0\0\0\0\0\0\0", (8 - position_ % 8) % 8));
  }

  ObjectsIndex Facts() {
    const DumpFacts& facts = graph_.facts();
    ObjectsIndex index;
    index.set_lost_references(facts.lost_references);
    index.set_has_root(facts.has_root);
    *index.mutable_header() = facts.header;
    *index.mutable_begin() = facts.begin;
    if (facts.end.has_value()) *index.mutable_end() = *facts.end;
    for (const ObjectTypeDef& type : graph_.types()) *index.add_type() = type;
    for (const uint64_t bytes : analysis_.RetainedByType()) {
      index.add_retained_by_type(bytes);
    }
    return index;
  }

  void AddParents() {
    const Parents parents(graph_);
    AddSection(StoredFindings::kFirstParents, parents.first());
    AddSection(StoredFindings::kParentEdges, parents.edges());
  }

  // Asking for each node in turn makes the search visit the whole graph once.
  void AddLastEdges() {
    RootChains chains(graph_);
    std::vector<uint32_t> last_edges(graph_.nodes());
    for (NodeId node = 0; node < graph_.nodes(); ++node) {
      last_edges[node] = chains.LastEdgeTo(node);
    }
    AddSection(StoredFindings::kLastEdges, absl::MakeConstSpan(last_edges));
  }

  ObjectAnalysis& analysis_;
  const ObjectGraph& graph_;
  ByteSink* const sink_;
  std::vector<IndexSection> sections_;
  uint64_t position_ = 0;
  absl::Status status_;
};

}  // namespace

absl::Status WriteIndex(const DumpStamp& stamp, ObjectAnalysis* analysis,
                        ByteSink* sink) {
  return IndexWriter(analysis, sink).Write(stamp);
}

}  // namespace pymemrun
