// Tables for SQL: rows with named columns, read from a file.
#ifndef PYMEMRUN_READERS_RELATIONS_ENGINE_RELATION_H_
#define PYMEMRUN_READERS_RELATIONS_ENGINE_RELATION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "readers/output/table.h"

namespace pymemrun {

// A cell; monostate: unknown. Text is as in the file, not escaped.
using RelationValue =
    std::variant<std::monostate, absl::string_view, int64_t, double>;
// The value of a table's cell, which must outlive the result.
RelationValue ValueOf(const Cell& cell);

enum class ValueKind { kText, kInteger, kReal };
enum class Unit { kNone, kBytes, kSeconds };
struct ColumnType {
  ValueKind kind;
  Unit unit = Unit::kNone;
};
inline constexpr ColumnType kText = {ValueKind::kText};
inline constexpr ColumnType kInteger = {ValueKind::kInteger};
inline constexpr ColumnType kReal = {ValueKind::kReal};
inline constexpr ColumnType kBytes = {ValueKind::kInteger, Unit::kBytes};
inline constexpr ColumnType kSeconds = {ValueKind::kReal, Unit::kSeconds};

// A column. Names and texts live as long as the program.
struct RelationColumn {
  const char* name;  // a word of SQL
  ColumnType type;
  const char* about;  // a phrase for the list of tables
};

// Walks over rows. Not thread safe.
class RowCursor {
 public:
  virtual ~RowCursor() = default;
  // Goes to the next row; the first call goes to the first one. Returns false
  // at the end. Fails if the file cannot be read. After the end or a
  // failure, no function of the cursor may be called.
  virtual absl::StatusOr<bool> Next() = 0;
  // A cell of the current row. Text is valid until the next call of either
  // function.
  virtual RelationValue At(int column) = 0;
};

// A table. Not thread safe. Several cursors may be open and used alternately;
// the relation must outlive them.
class Relation {
 public:
  virtual ~Relation() = default;

  virtual const char* name() const = 0;   // a word of SQL
  virtual const char* about() const = 0;  // what a row is: a phrase
  virtual absl::Span<const RelationColumn> columns() const = 0;
  virtual std::unique_ptr<RowCursor> Rows() = 0;
  // An estimate of the number of rows, without reading.
  virtual uint64_t expected_rows() { return uint64_t{1} << 20; }

  // An estimate of how many rows have the same value in this column; 0: Find()
  // cannot look it up.
  virtual uint64_t RowsOfOne(int column) const { return 0; }
  // Walks over rows whose cell may equal the number, or the text in a column of
  // text: every row that does is among them. REQUIRES: RowsOfOne(column) > 0.
  virtual std::unique_ptr<RowCursor> Find(int column, int64_t number,
                                          absl::string_view text) {
    return Rows();
  }
  // Why there are no rows: what was not recorded, and the option for it. Empty:
  // nothing is known to be missing.
  virtual std::string Missing() { return ""; }
  // Whether its rows are of the moment that --at names, not of the whole run.
  virtual bool of_moment() const { return false; }
};

using Relations = std::vector<std::unique_ptr<Relation>>;

// "text", "integer" or "real"; "bytes", "s" or "".
absl::string_view KindName(ValueKind kind);
absl::string_view UnitName(Unit unit);

// Joins the relations of several runs by name. Each gets one column more, at
// the end: `run`, the run's name. REQUIRES: at least one run; all have the same
// relations in the same order.
Relations JoinRuns(std::vector<std::pair<std::string, Relations>> runs);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RELATIONS_ENGINE_RELATION_H_
