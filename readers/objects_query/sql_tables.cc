#include "readers/objects_query/sql_tables.h"

#include <string>

#include "readers/objects/object_text.h"

namespace pymemrun {
namespace {

Cell TextCell(absl::string_view text) {
  return text.empty() ? Cell() : Cell(std::string(text));
}

class Nodes final : public SqlTable {
 public:
  using SqlTable::SqlTable;
  const char* name() const override { return "nodes"; }
  const char* columns() const override {
    return "id INTEGER, address TEXT, type TEXT, module TEXT, size INTEGER, "
           "retained INTEGER, length INTEGER, value TEXT, synthetic INTEGER";
  }
  uint64_t rows() override { return graph().nodes(); }
  uint64_t RowsOfOne(int column) const override { return column <= 1; }
  SqlRows Find(int column, int64_t number, absl::string_view text) override {
    if (column == 1) {
      const NodeId node = NodeByText(graph(), text);
      return node == kNoNode ? SqlRows() : SqlRows::One(node);
    }
    return OfNode(number, [](NodeId node) { return SqlRows::One(node); });
  }
  Cell At(uint64_t row, int column) override {
    const auto node = static_cast<NodeId>(row);
    switch (column) {
      case 0:
        return row;
      case 1:
        return TextCell(AddressText(graph(), node));
      case 2:
        return KindText(graph(), node);
      case 3:
        return TextCell(graph().types()[graph().type(node)].module());
      case 4:
        return graph().size_bytes(node);
      case 5:
        return analysis_.retained(node);
      case 8:
        return uint64_t{graph().is_synthetic(node)};
      default: {
        const NodeDetails details = graph().details(node);
        if (column == 6) return details.length ? Cell(*details.length) : Cell();
        return details.text ? Cell(std::string(*details.text)) : Cell();
      }
    }
  }
};

class Edges final : public SqlTable {
 public:
  using SqlTable::SqlTable;
  const char* name() const override { return "edges"; }
  const char* columns() const override {
    return "source INTEGER, target INTEGER, kind TEXT, name TEXT";
  }
  uint64_t rows() override { return graph().references(); }
  uint64_t RowsOfOne(int column) const override { return column <= 1 ? 8 : 0; }
  SqlRows Find(int column, int64_t number, absl::string_view) override {
    return OfNode(number, [this, column](NodeId node) {
      return column == 1 ? SqlRows::Of(analysis_.parents().EdgesTo(node))
                         : SqlRows{graph().first_edge(node),
                                   graph().first_edge(node + 1)};
    });
  }
  Cell At(uint64_t row, int column) override {
    const auto edge = static_cast<uint32_t>(row);
    switch (column) {
      case 0:
        return uint64_t{graph().SourceOf(edge)};
      case 1:
        return uint64_t{graph().target(edge)};
      case 2:
        return EdgeKindName(graph().kind(edge));
      default: {
        if (!graph().edge_name(edge).empty()) {
          return std::string(graph().edge_name(edge));
        }
        const NodeId key = KeyOf(graph(), edge);
        if (key == kNoNode) return {};
        const NodeDetails details = graph().details(key);
        return details.text ? Cell(std::string(*details.text)) : Cell();
      }
    }
  }
};

class Dominators final : public SqlTable {
 public:
  using SqlTable::SqlTable;
  const char* name() const override { return "dominators"; }
  const char* columns() const override {
    return "node INTEGER, dominator INTEGER, retained INTEGER";
  }
  uint64_t rows() override { return graph().nodes(); }
  uint64_t RowsOfOne(int column) const override {
    return column == 0 ? 1 : column == 1 ? 8 : 0;
  }
  SqlRows Find(int column, int64_t number, absl::string_view) override {
    return OfNode(number, [this, column](NodeId node) {
      return column == 1 ? SqlRows::Of(analysis_.children().Of(node))
                         : SqlRows::One(node);
    });
  }
  Cell At(uint64_t row, int column) override {
    const auto node = static_cast<NodeId>(row);
    if (column == 0) return row;
    if (column == 2) return analysis_.retained(node);
    const NodeId dominator = analysis_.dominator(node);
    return dominator == kNoNode ? Cell() : Cell(uint64_t{dominator});
  }
};

class Types final : public SqlTable {
 public:
  using SqlTable::SqlTable;
  const char* name() const override { return "types"; }
  const char* columns() const override {
    return "type TEXT, module TEXT, objects INTEGER, size INTEGER, "
           "retained INTEGER";
  }
  uint64_t rows() override { return graph().types().size(); }
  uint64_t RowsOfOne(int) const override { return 0; }
  SqlRows Find(int, int64_t, absl::string_view) override { return {}; }
  Cell At(uint64_t row, int column) override {
    switch (column) {
      case 0:
        return graph().type_name(static_cast<uint32_t>(row));
      case 1:
        return TextCell(graph().types()[row].module());
      case 4:
        if (retained_.empty()) retained_ = analysis_.RetainedByType();
        return retained_[row];
      default:
        if (objects_.empty()) Count();
        return column == 2 ? objects_[row] : sizes_[row];
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

std::vector<std::unique_ptr<SqlTable>> SqlTables(ObjectAnalysis* analysis) {
  std::vector<std::unique_ptr<SqlTable>> tables;
  tables.push_back(std::make_unique<Nodes>(analysis));
  tables.push_back(std::make_unique<Edges>(analysis));
  tables.push_back(std::make_unique<Dominators>(analysis));
  tables.push_back(std::make_unique<Types>(analysis));
  return tables;
}

}  // namespace pymemrun
