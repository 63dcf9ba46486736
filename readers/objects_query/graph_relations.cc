#include "readers/objects_query/graph_relations.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "readers/objects/object_text.h"
#include "readers/objects/parents.h"

namespace pymemrun {
namespace {

// Rows of a table: those from `begin` up to `end`, or those of a list.
struct GraphRows {
  uint64_t begin = 0, end = 0;
  std::optional<absl::Span<const uint32_t>> list = std::nullopt;
  std::optional<Parents::Edges> edges = std::nullopt;

  static GraphRows One(uint64_t row) { return {row, row + 1}; }
  static GraphRows Of(absl::Span<const uint32_t> list) {
    return {0, list.size(), list};
  }
  static GraphRows Of(const Parents::Edges& edges) {
    return {0, edges.size(), std::nullopt, edges};
  }
  uint64_t At(uint64_t position) const {
    return list.has_value()    ? (*list)[position]
           : edges.has_value() ? (*edges)[position]
                               : position;
  }
};

// A relation whose rows have numbers.
class GraphRelation : public Relation {
 public:
  explicit GraphRelation(ObjectAnalysis* analysis) : analysis_(*analysis) {}

  uint64_t expected_rows() override { return rows(); }
  std::unique_ptr<RowCursor> Rows() override {
    return std::make_unique<Cursor>(this, GraphRows{0, rows()});
  }
  std::unique_ptr<RowCursor> Find(int column, int64_t number,
                                  absl::string_view text) override {
    return std::make_unique<Cursor>(this, RowsWith(column, number, text));
  }

 protected:
  virtual uint64_t rows() = 0;
  // As Find() says.
  virtual GraphRows RowsWith(int, int64_t, absl::string_view) { return {}; }
  // Text that is made is kept in `made`.
  virtual RelationValue At(uint64_t row, int column, std::string* made) = 0;

  const ObjectGraph& graph() const { return analysis_.graph(); }
  // No rows where the graph has no such node.
  template <typename Rows>
  GraphRows OfNode(int64_t number, Rows rows) const {
    if (number < 0 || number >= int64_t{graph().nodes()}) return {};
    return rows(static_cast<NodeId>(number));
  }

  // The first characters of its text, if it has one.
  RelationValue ValueOf(NodeId node, std::string* made) const {
    const auto text = graph().details(node).text;
    if (!text.has_value()) return {};
    *made = std::string(*text);
    return absl::string_view(*made);
  }
  static RelationValue Number(uint64_t number) {
    return static_cast<int64_t>(number);
  }
  static RelationValue TextOr(absl::string_view text) {
    return text.empty() ? RelationValue() : RelationValue(text);
  }
  // An empty text is not known.
  static RelationValue Made(std::string text, std::string* made) {
    *made = std::move(text);
    return TextOr(*made);
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
      return relation_.At(row_, column, &made_);
    }

   private:
    GraphRelation& relation_;
    const GraphRows rows_;
    uint64_t next_, row_ = 0;
    std::string made_;
  };
};

class Nodes final : public GraphRelation {
 public:
  using GraphRelation::GraphRelation;
  const char* name() const override { return "nodes"; }
  const char* about() const override { return "an object of the dump"; }
  absl::Span<const RelationColumn> columns() const override {
    static constexpr RelationColumn kColumns[] = {
        {"id", ValueKind::kInteger, Unit::kNone, "its number"},
        {"address", ValueKind::kText, Unit::kNone, "where it was, 0x..."},
        {"type", ValueKind::kText, Unit::kNone, "with its module"},
        {"module", ValueKind::kText, Unit::kNone, "of its type"},
        {"size", ValueKind::kInteger, Unit::kBytes, "its own bytes"},
        {"retained", ValueKind::kInteger, Unit::kBytes,
         "what would go with it"},
        {"length", ValueKind::kInteger, Unit::kNone, "len(), if it has one"},
        {"value", ValueKind::kText, Unit::kNone, "its first characters"},
        {"synthetic", ValueKind::kInteger, Unit::kNone,
         "1: no object, but a group of roots"}};
    return kColumns;
  }
  uint64_t rows() override { return graph().nodes(); }
  uint64_t RowsOfOne(int column) const override { return column <= 1; }
  GraphRows RowsWith(int column, int64_t number,
                     absl::string_view text) override {
    if (column == 1) {
      const NodeId node = NodeByText(graph(), text);
      return node == kNoNode ? GraphRows() : GraphRows::One(node);
    }
    return OfNode(number, [](NodeId node) { return GraphRows::One(node); });
  }
  RelationValue At(uint64_t row, int column, std::string* made) override {
    const auto node = static_cast<NodeId>(row);
    switch (column) {
      case 0:
        return Number(row);
      case 1:
        return Made(AddressText(graph(), node), made);
      case 2:
        return Made(KindText(graph(), node), made);
      case 3:
        return TextOr(graph().types()[graph().type(node)].module());
      case 4:
        return Number(graph().size_bytes(node));
      case 5:
        return Number(analysis_.retained(node));
      case 8:
        return Number(graph().is_synthetic(node));
      case 6: {
        const auto length = graph().details(node).length;
        return length ? Number(*length) : RelationValue();
      }
      default:
        return ValueOf(node, made);
    }
  }
};

class Edges final : public GraphRelation {
 public:
  using GraphRelation::GraphRelation;
  const char* name() const override { return "edges"; }
  const char* about() const override { return "a reference"; }
  absl::Span<const RelationColumn> columns() const override {
    static constexpr RelationColumn kColumns[] = {
        {"source", ValueKind::kInteger, Unit::kNone, "the id of who refers"},
        {"target", ValueKind::kInteger, Unit::kNone, "the id of to what"},
        {"kind", ValueKind::kText, Unit::kNone, "attribute, key, index, ..."},
        {"name", ValueKind::kText, Unit::kNone, "of the attribute or key"}};
    return kColumns;
  }
  uint64_t rows() override { return graph().references(); }
  uint64_t RowsOfOne(int column) const override { return column <= 1 ? 8 : 0; }
  GraphRows RowsWith(int column, int64_t number, absl::string_view) override {
    return OfNode(number, [this, column](NodeId node) {
      return column == 1 ? GraphRows::Of(analysis_.parents().EdgesTo(node))
                         : GraphRows{graph().first_edge(node),
                                     graph().first_edge(node + 1)};
    });
  }
  RelationValue At(uint64_t row, int column, std::string* made) override {
    const auto edge = static_cast<uint32_t>(row);
    switch (column) {
      case 0:
        return Number(graph().SourceOf(edge));
      case 1:
        return Number(graph().target(edge));
      case 2:
        return Made(EdgeKindName(graph().kind(edge)), made);
      default: {
        const absl::string_view name = graph().edge_name(edge);
        if (!name.empty()) return name;
        const NodeId key = KeyOf(graph(), edge);
        return key == kNoNode ? RelationValue() : ValueOf(key, made);
      }
    }
  }
};

class Dominators final : public GraphRelation {
 public:
  using GraphRelation::GraphRelation;
  const char* name() const override { return "dominators"; }
  const char* about() const override {
    return "an object, and the one without which it would go";
  }
  absl::Span<const RelationColumn> columns() const override {
    static constexpr RelationColumn kColumns[] = {
        {"node", ValueKind::kInteger, Unit::kNone, "the object's id"},
        {"dominator", ValueKind::kInteger, Unit::kNone, "the id of that one"},
        {"retained", ValueKind::kInteger, Unit::kBytes,
         "what would go with the object"}};
    return kColumns;
  }
  uint64_t rows() override { return graph().nodes(); }
  uint64_t RowsOfOne(int column) const override {
    return column == 0 ? 1 : column == 1 ? 8 : 0;
  }
  GraphRows RowsWith(int column, int64_t number, absl::string_view) override {
    return OfNode(number, [this, column](NodeId node) {
      return column == 1 ? GraphRows::Of(analysis_.children().Of(node))
                         : GraphRows::One(node);
    });
  }
  RelationValue At(uint64_t row, int column, std::string*) override {
    const auto node = static_cast<NodeId>(row);
    if (column == 0) return Number(row);
    if (column == 2) return Number(analysis_.retained(node));
    const NodeId dominator = analysis_.dominator(node);
    return dominator == kNoNode ? RelationValue() : Number(dominator);
  }
};

class Types final : public GraphRelation {
 public:
  using GraphRelation::GraphRelation;
  const char* name() const override { return "types"; }
  const char* about() const override { return "a type"; }
  absl::Span<const RelationColumn> columns() const override {
    static constexpr RelationColumn kColumns[] = {
        {"type", ValueKind::kText, Unit::kNone, "with its module"},
        {"module", ValueKind::kText, Unit::kNone, "its module alone"},
        {"objects", ValueKind::kInteger, Unit::kNone, "how many there are"},
        {"size", ValueKind::kInteger, Unit::kBytes, "of all of them"},
        {"retained", ValueKind::kInteger, Unit::kBytes,
         "what would go with them"}};
    return kColumns;
  }
  uint64_t rows() override { return graph().types().size(); }
  RelationValue At(uint64_t row, int column, std::string*) override {
    switch (column) {
      case 0:
        return absl::string_view(graph().type_name(static_cast<uint32_t>(row)));
      case 1:
        return TextOr(graph().types()[row].module());
      case 4:
        if (retained_.empty()) retained_ = analysis_.RetainedByType();
        return Number(retained_[row]);
      default:
        if (objects_.empty()) Count();
        return Number(column == 2 ? objects_[row] : sizes_[row]);
    }
  }

 private:
  void Count() {
    objects_.resize(graph().types().size());
    sizes_.resize(graph().types().size());
    for (NodeId node = 0; node < graph().nodes(); ++node) {
      ++objects_[graph().type(node)];
      sizes_[graph().type(node)] += graph().size_bytes(node);
    }
  }

  std::vector<uint64_t> objects_, sizes_, retained_;  // made when asked for
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
