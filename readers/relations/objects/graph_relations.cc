#include "readers/relations/objects/graph_relations.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "readers/objects/graph/object_text.h"
#include "readers/objects/graph/parents.h"
#include "readers/relations/engine/relation_columns.h"

namespace pymemrun {
namespace {

// Rows of a table: those from `begin` up to `end`, or those of a list.
struct GraphRows {
  uint64_t begin = 0, end = 0;
  std::optional<absl::Span<const uint32_t>> list = std::nullopt;

  static GraphRows One(uint64_t row) { return {row, row + 1}; }
  static GraphRows Of(absl::Span<const uint32_t> list) {
    return {0, list.size(), list};
  }
  uint64_t At(uint64_t position) const {
    return list.has_value() ? (*list)[position] : position;
  }
};

// A row of any of the relations.
struct GraphRow {
  ObjectAnalysis& analysis;
  uint64_t number;
  std::string* made;

  const ObjectGraph& graph() const { return analysis.graph(); }
  NodeId node() const { return static_cast<NodeId>(number); }
  uint32_t edge() const { return static_cast<uint32_t>(number); }
  // Text that is made for it; an empty one is not known.
  RelationValue Made(std::string text) const {
    *made = std::move(text);
    return TextOrNot(*made);
  }
  // The first characters of a node's text, if it has one.
  RelationValue ValueOf(NodeId node) const {
    const auto text = graph().details(node).text;
    if (!text.has_value()) return {};
    *made = std::string(*text);
    return absl::string_view(*made);
  }
};

// A relation whose rows have numbers, and are found by them.
class GraphRelation : public SpecifiedRelation<GraphRow> {
 public:
  GraphRelation(const RelationSpec<GraphRow>& spec, ObjectAnalysis* analysis)
      : SpecifiedRelation(spec), analysis_(*analysis) {}

  uint64_t expected_rows() override { return rows(); }
  std::unique_ptr<RowCursor> Rows() override {
    return std::make_unique<Cursor>(this, GraphRows{0, rows()});
  }
  std::unique_ptr<RowCursor> Find(int column, int64_t number,
                                  absl::string_view text) override {
    return std::make_unique<Cursor>(this, RowsWith(column, number, text));
  }

 protected:
  virtual uint64_t rows() { return graph().nodes(); }
  // As Find() says.
  virtual GraphRows RowsWith(int, int64_t, absl::string_view) { return {}; }

  const ObjectGraph& graph() const { return analysis_.graph(); }
  // No rows where the graph has no such node.
  template <typename Rows>
  GraphRows OfNode(int64_t number, Rows rows) const {
    if (number < 0 || number >= int64_t{graph().nodes()}) return {};
    return rows(static_cast<NodeId>(number));
  }

  ObjectAnalysis& analysis_;

 private:
  class Cursor final : public RowCursor {
   public:
    Cursor(GraphRelation* relation, const GraphRows& rows)
        : relation_(*relation), rows_(rows), next_(rows.begin) {}
    absl::StatusOr<bool> Next() override {
      if (next_ >= rows_.end) return false;
      row_ = rows_.At(next_++);
      return true;
    }
    RelationValue At(int column) override {
      return relation_.spec().columns[column].cell(
          {relation_.analysis_, row_, &made_});
    }

   private:
    GraphRelation& relation_;
    const GraphRows rows_;
    uint64_t next_, row_ = 0;
    std::string made_;
  };
};

constexpr ColumnOf<GraphRow> kNodeColumns[] = {
    {"id", kInteger, "its number",
     [](const GraphRow& row) { return IntegerOf(row.number); }},
    {"address", kText, "its address, 0x...",
     [](const GraphRow& row) {
       return row.Made(AddressText(row.graph(), row.node()));
     }},
    {"type", kText, "its type, with the module",
     [](const GraphRow& row) {
       return row.Made(KindText(row.graph(), row.node()));
     }},
    {"module", kText, "the module of its type",
     [](const GraphRow& row) {
       const ObjectGraph& graph = row.graph();
       return TextOrNot(graph.types()[graph.type(row.node())].module());
     }},
    {"size", kBytes, "its own bytes",
     [](const GraphRow& row) {
       return IntegerOf(row.graph().size_bytes(row.node()));
     }},
    {"retained", kBytes, "bytes that would be freed with it",
     [](const GraphRow& row) {
       return IntegerOf(row.analysis.retained(row.node()));
     }},
    {"length", kInteger, "len(), if it has one",
     [](const GraphRow& row) {
       const auto length = row.graph().details(row.node()).length;
       return length ? IntegerOf(*length) : RelationValue();
     }},
    {"value", kText, "its first characters",
     [](const GraphRow& row) { return row.ValueOf(row.node()); }},
    {"synthetic", kInteger, "1: no object, but a group of roots",
     [](const GraphRow& row) {
       return IntegerOf(row.graph().is_synthetic(row.node()));
     }}};

// The row's number is the node's id, so a node is found by it in constant time,
// and by its address by a search.
class Nodes final : public GraphRelation {
 public:
  explicit Nodes(ObjectAnalysis* analysis)
      : GraphRelation({"nodes", "an object of the dump", kNodeColumns},
                      analysis) {}
  uint64_t RowsOfOne(int column) const override { return column <= 1; }
  GraphRows RowsWith(int column, int64_t number,
                     absl::string_view text) override {
    if (column == 1) {
      const NodeId node = NodeByText(graph(), text);
      return node == kNoNode ? GraphRows() : GraphRows::One(node);
    }
    return OfNode(number, [](NodeId node) { return GraphRows::One(node); });
  }
};

constexpr ColumnOf<GraphRow> kEdgeColumns[] = {
    {"source", kInteger, "the id of the object that refers",
     [](const GraphRow& row) {
       return IntegerOf(row.graph().SourceOf(row.edge()));
     }},
    {"target", kInteger, "the id of the object that is referred to",
     [](const GraphRow& row) {
       return IntegerOf(row.graph().target(row.edge()));
     }},
    {"kind", kText, "attribute, key, index, ...",
     [](const GraphRow& row) {
       return row.Made(EdgeKindName(row.graph().kind(row.edge())));
     }},
    {"name", kText, "name of the attribute or key", [](const GraphRow& row) {
       const absl::string_view name = row.graph().edge_name(row.edge());
       if (!name.empty()) return RelationValue(name);
       const NodeId key = KeyOf(row.graph(), row.edge());
       return key == kNoNode ? RelationValue() : row.ValueOf(key);
     }}};

// Edges of one source are adjacent, and those to one target are listed by
// Parents. 8 is a guess at how many there are.
class Edges final : public GraphRelation {
 public:
  explicit Edges(ObjectAnalysis* analysis)
      : GraphRelation({"edges", "a reference", kEdgeColumns}, analysis) {}
  uint64_t rows() override { return graph().references(); }
  uint64_t RowsOfOne(int column) const override { return column <= 1 ? 8 : 0; }
  GraphRows RowsWith(int column, int64_t number, absl::string_view) override {
    return OfNode(number, [this, column](NodeId node) {
      return column == 1 ? GraphRows::Of(analysis_.parents().EdgesTo(node))
                         : GraphRows{graph().first_edge(node),
                                     graph().first_edge(node + 1)};
    });
  }
};

constexpr ColumnOf<GraphRow> kDominatorColumns[] = {
    {"node", kInteger, "the object's id",
     [](const GraphRow& row) { return IntegerOf(row.number); }},
    {"dominator", kInteger, "the id of its dominator",
     [](const GraphRow& row) {
       const NodeId dominator = row.analysis.dominator(row.node());
       return dominator == kNoNode ? RelationValue() : IntegerOf(dominator);
     }},
    {"retained", kBytes, "bytes that would be freed with the object",
     [](const GraphRow& row) {
       return IntegerOf(row.analysis.retained(row.node()));
     }}};

// Asking for a dominator finds the nodes below it: the children in the tree.
class Dominators final : public GraphRelation {
 public:
  explicit Dominators(ObjectAnalysis* analysis)
      : GraphRelation({"dominators",
                       "an object, and its dominator: the object whose release "
                       "would free it",
                       kDominatorColumns},
                      analysis) {}
  uint64_t RowsOfOne(int column) const override {
    return column == 0 ? 1 : column == 1 ? 8 : 0;
  }
  GraphRows RowsWith(int column, int64_t number, absl::string_view) override {
    return OfNode(number, [this, column](NodeId node) {
      return column == 1 ? GraphRows::Of(analysis_.children().Of(node))
                         : GraphRows::One(node);
    });
  }
};

// The sums over the objects of each type, computed on demand.
class TypeSums {
 public:
  explicit TypeSums(ObjectAnalysis* analysis) : analysis_(*analysis) {}
  const ObjectGraph& graph() const { return analysis_.graph(); }
  uint64_t Objects(uint32_t type) {
    if (objects_.empty()) Count();
    return objects_[type];
  }
  uint64_t Bytes(uint32_t type) {
    if (objects_.empty()) Count();
    return bytes_[type];
  }
  uint64_t RetainedBytes(uint32_t type) {
    if (retained_.empty()) retained_ = analysis_.RetainedByType();
    return retained_[type];
  }

 private:
  void Count() {
    objects_.resize(graph().types().size());
    bytes_.resize(graph().types().size());
    for (NodeId node = 0; node < graph().nodes(); ++node) {
      ++objects_[graph().type(node)];
      bytes_[graph().type(node)] += graph().size_bytes(node);
    }
  }

  ObjectAnalysis& analysis_;
  std::vector<uint64_t> objects_, bytes_, retained_;
};

struct TypeRow {
  TypeSums& sums;
  uint32_t type;
};
constexpr ColumnOf<TypeRow> kTypeColumns[] = {
    {"type", kText, "its name, with the module",
     [](const TypeRow& row) {
       return RelationValue(row.sums.graph().type_name(row.type));
     }},
    {"module", kText, "its module alone",
     [](const TypeRow& row) {
       return TextOrNot(row.sums.graph().types()[row.type].module());
     }},
    {"objects", kInteger, "the number of its objects",
     [](const TypeRow& row) { return IntegerOf(row.sums.Objects(row.type)); }},
    {"size", kBytes, "own bytes of all of them",
     [](const TypeRow& row) { return IntegerOf(row.sums.Bytes(row.type)); }},
    {"retained", kBytes, "bytes that would be freed with them",
     [](const TypeRow& row) {
       return IntegerOf(row.sums.RetainedBytes(row.type));
     }}};

// Types are few, and need no search.
class Types final : public NumberedRelation<TypeRow> {
 public:
  explicit Types(ObjectAnalysis* analysis)
      : NumberedRelation({"types", "a type", kTypeColumns}), sums_(analysis) {}
  uint64_t expected_rows() override { return sums_.graph().types().size(); }

 private:
  absl::StatusOr<uint64_t> End() override {
    return sums_.graph().types().size();
  }
  TypeRow RowAt(uint64_t number, std::string*) override {
    return {sums_, static_cast<uint32_t>(number)};
  }

  TypeSums sums_;
};

}  // namespace

Relations GraphRelations(ObjectAnalysis* analysis) {
  Relations relations;
  relations.push_back(std::make_unique<Nodes>(analysis));
  relations.push_back(std::make_unique<Edges>(analysis));
  relations.push_back(std::make_unique<Dominators>(analysis));
  relations.push_back(std::make_unique<Types>(analysis));
  return relations;
}

}  // namespace pymemrun
