#include <utility>

#include "format/objects_index.pb.h"
#include "format/stream/status_util.h"
#include "readers/columns/mapped_column.h"
#include "readers/objects/chains.h"
#include "readers/objects_index/index_file.h"
#include "readers/objects_index/index_tail.h"
#include "readers/objects_index/packed_details.h"

namespace pymemrun {
namespace {

// Bytes are handed on when there are so many.
constexpr size_t kHandOnBytes = size_t{1} << 20;

class IndexWriter {
 public:
  IndexWriter(ObjectAnalysis* analysis, ByteSink* sink)
      : analysis_(*analysis), graph_(analysis->graph()), sink_(sink) {}

  absl::Status Write(const DumpStamp& stamp) {
    bytes_ = std::string(kIndexMagic);
    index_.set_dump_bytes(stamp.size_bytes);
    index_.set_dump_crc(stamp.crc);
    SetFacts();
    RETURN_IF_ERROR(AddGraph());
    RETURN_IF_ERROR(AddTree());
    RETURN_IF_ERROR(AddParents());
    RETURN_IF_ERROR(AddChains());
    RETURN_IF_ERROR(AddDetails());
    RETURN_IF_ERROR(AddBesides());
    AppendIndexTail(index_, &bytes_);
    return HandOn(/*least=*/0);
  }

 private:
  absl::Status HandOn(size_t least) {
    if (bytes_.size() < least) return absl::OkStatus();
    given_ += bytes_.size();
    RETURN_IF_ERROR(sink_->Append(bytes_));
    bytes_.clear();
    return absl::OkStatus();
  }
  uint64_t position() const { return given_ + bytes_.size(); }

  // `get` gives the number of each row.
  template <typename Get>
  absl::Status AddColumn(uint64_t rows, Get get) {
    bytes_.resize(bytes_.size() + (8 - position() % 8) % 8);
    ObjectsIndex::Column* const column = index_.add_column();
    column->set_offset(position());
    column->set_rows(rows);
    ColumnPacker packer;
    for (uint64_t row = 0; row < rows; ++row) {
      packer.Add(get(static_cast<uint32_t>(row)), &bytes_);
      RETURN_IF_ERROR(HandOn(kHandOnBytes));
    }
    RETURN_IF_ERROR(packer.Finish(&bytes_));
    column->set_words(packer.words());
    return HandOn(kHandOnBytes);
  }

  void SetFacts() {
    const DumpFacts& facts = graph_.facts();
    index_.set_objects(graph_.objects());
    index_.set_size_bytes(graph_.total_bytes());
    index_.set_lost_references(facts.lost_references);
    index_.set_has_root(facts.has_root);
    *index_.mutable_header() = facts.header;
    *index_.mutable_begin() = facts.begin;
    if (facts.end.has_value()) *index_.mutable_end() = *facts.end;
    for (const ObjectTypeDef& type : graph_.types()) *index_.add_type() = type;
    index_.set_names(graph_.name_count());
  }

  absl::Status AddGraph() {
    const uint64_t nodes = graph_.nodes(), edges = graph_.references();
    RETURN_IF_ERROR(
        AddColumn(nodes, [&](NodeId node) { return graph_.address(node); }));
    RETURN_IF_ERROR(
        AddColumn(nodes, [&](NodeId node) { return graph_.size_bytes(node); }));
    RETURN_IF_ERROR(
        AddColumn(nodes, [&](NodeId node) { return graph_.type(node); }));
    RETURN_IF_ERROR(
        AddColumn(nodes, [&](NodeId node) { return graph_.flags(node); }));
    RETURN_IF_ERROR(AddColumn(
        nodes + 1, [&](NodeId node) { return graph_.first_edge(node); }));
    RETURN_IF_ERROR(
        AddColumn(edges, [&](uint32_t edge) { return graph_.target(edge); }));
    RETURN_IF_ERROR(
        AddColumn(edges, [&](uint32_t edge) { return graph_.kind(edge); }));
    return AddColumn(edges,
                     [&](uint32_t edge) { return graph_.name_id(edge); });
  }

  absl::Status AddTree() {
    // None is the largest number: one higher is 0.
    RETURN_IF_ERROR(AddColumn(graph_.nodes(), [&](NodeId node) {
      return static_cast<uint32_t>(analysis_.dominator(node) + 1);
    }));
    RETURN_IF_ERROR(AddColumn(graph_.nodes(), [&](NodeId node) {
      return analysis_.retained(node) - graph_.size_bytes(node);
    }));
    for (const uint64_t bytes : analysis_.RetainedByType()) {
      index_.add_retained_by_type(bytes);
    }
    analysis_.Forget();
    return absl::OkStatus();
  }

  absl::Status AddParents() {
    const Parents parents(graph_);
    RETURN_IF_ERROR(AddColumn(graph_.nodes() + uint64_t{1}, [&](NodeId node) {
      return parents.first(node);
    }));
    return AddColumn(graph_.references(),
                     [&](uint32_t at) { return parents.edge(at); });
  }

  absl::Status AddChains() {
    {
      const std::vector<uint32_t> distances = Distances(graph_);
      RETURN_IF_ERROR(AddColumn(graph_.nodes(), [&](NodeId node) {
        return static_cast<uint32_t>(distances[node] + 1);
      }));
    }
    RootChains chains(graph_);
    return AddColumn(graph_.nodes(), [&](NodeId node) {
      return static_cast<uint32_t>(chains.LastEdgeTo(node) + 1);
    });
  }

  absl::Status AddDetails() {
    uint64_t offset = 0, bytes = 0;
    RETURN_IF_ERROR(AddTexts(
        graph_.nodes(), [&](NodeId node) { return graph_.details(node); },
        &offset, &bytes));
    index_.set_details_offset(offset);
    index_.set_details_bytes(bytes);
    RETURN_IF_ERROR(AddTexts(
        graph_.name_count(),
        [&](uint32_t id) {
          NodeDetails details;
          details.text = graph_.name(id);
          return details;
        },
        &offset, &bytes));
    index_.set_names_offset(offset);
    index_.set_names_bytes(bytes);
    return absl::OkStatus();
  }

  absl::Status AddBesides() {
    const uint32_t rows = graph_.besides().size();
    RETURN_IF_ERROR(
        AddColumn(rows, [&](uint32_t i) { return graph_.besides().node(i); }));
    RETURN_IF_ERROR(AddColumn(
        rows, [&](uint32_t i) { return graph_.besides()[i].address; }));
    return AddColumn(rows,
                     [&](uint32_t i) { return graph_.besides()[i].bytes; });
  }

  // Blocks of details, and the column of where they begin.
  template <typename Get>
  absl::Status AddTexts(uint64_t rows, Get get, uint64_t* offset,
                        uint64_t* bytes) {
    *offset = position();
    DetailsPacker packer;
    for (uint64_t row = 0; row < rows; ++row) {
      RETURN_IF_ERROR(packer.Add(get(static_cast<uint32_t>(row)), &bytes_));
      RETURN_IF_ERROR(HandOn(kHandOnBytes));
    }
    RETURN_IF_ERROR(packer.Finish(&bytes_));
    const std::vector<uint64_t>& begins = packer.begins();
    *bytes = begins.back();
    return AddColumn(begins.size(),
                     [&](uint32_t block) { return begins[block]; });
  }

  ObjectAnalysis& analysis_;
  const ObjectGraph& graph_;
  ByteSink* const sink_;
  ObjectsIndex index_;
  std::string bytes_;
  uint64_t given_ = 0;
};

}  // namespace

absl::Status WriteIndex(const DumpStamp& stamp, ObjectAnalysis* analysis,
                        ByteSink* sink) {
  return IndexWriter(analysis, sink).Write(stamp);
}

}  // namespace pymemrun
