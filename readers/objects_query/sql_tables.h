// The object graph as tables of SQL. Cells are made when they are asked for.
#ifndef PYMEMRUN_READERS_OBJECTS_QUERY_SQL_TABLES_H_
#define PYMEMRUN_READERS_OBJECTS_QUERY_SQL_TABLES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "readers/objects/parents.h"
#include "readers/objects_findings/analysis.h"
#include "readers/output/table.h"

namespace pymemrun {

// Rows of a table: those from `begin` up to `end`, or those of a list.
struct SqlRows {
  uint64_t begin = 0, end = 0;
  std::optional<absl::Span<const uint32_t>> list = std::nullopt;
  std::optional<Parents::Edges> edges = std::nullopt;

  static SqlRows One(uint64_t row) { return {row, row + 1}; }
  static SqlRows Of(absl::Span<const uint32_t> list) {
    return {0, list.size(), list};
  }
  static SqlRows Of(const Parents::Edges& edges) {
    return {0, edges.size(), std::nullopt, edges};
  }
  uint64_t At(uint64_t position) const {
    return list.has_value()    ? (*list)[position]
           : edges.has_value() ? (*edges)[position]
                               : position;
  }
};

// Not thread safe. The analysis must outlive it.
class SqlTable {
 public:
  explicit SqlTable(ObjectAnalysis* analysis) : analysis_(*analysis) {}
  virtual ~SqlTable() = default;

  virtual const char* name() const = 0;
  // Its columns, as CREATE TABLE has them.
  virtual const char* columns() const = 0;
  virtual uint64_t rows() = 0;
  virtual Cell At(uint64_t row, int column) = 0;

  // How many rows have one value of this column, about; 0: Find() does not look
  // for it.
  virtual uint64_t RowsOfOne(int column) const = 0;
  // The rows whose cell may equal the number, or text for a column of text: all
  // that do are among them. REQUIRES: RowsOfOne(column) is above 0.
  virtual SqlRows Find(int column, int64_t number, absl::string_view text) = 0;

 protected:
  const ObjectGraph& graph() const { return analysis_.graph(); }
  // No rows where the graph has no such node.
  template <typename Rows>
  SqlRows OfNode(int64_t number, Rows rows) const {
    if (number < 0 || number >= int64_t{graph().nodes()}) return {};
    return rows(static_cast<NodeId>(number));
  }

  ObjectAnalysis& analysis_;
};

// nodes, edges, dominators and types.
std::vector<std::unique_ptr<SqlTable>> SqlTables(ObjectAnalysis* analysis);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_QUERY_SQL_TABLES_H_
