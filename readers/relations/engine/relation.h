// Rows with named columns, read from a file: what SQL asks questions about.
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

// A cell; monostate: it is not known. Text is as it stands in the file.
using RelationValue =
    std::variant<std::monostate, absl::string_view, int64_t, double>;
// What a table has in that cell, which must outlive it.
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

// Names and texts live as long as the program.
struct RelationColumn {
  const char* name;  // a word of SQL
  ColumnType type;
  const char* about;  // a phrase for the list of tables
};

// A walk over rows. Not thread safe.
class RowCursor {
 public:
  virtual ~RowCursor() = default;
  // Goes to the next row, which is the first one at the first call. False: the
  // rows have ended. Fails where the file cannot be read. Neither is to be
  // called again after that.
  virtual absl::StatusOr<bool> Next() = 0;
  // A cell of this row. Text is valid until the next call of either function.
  virtual RelationValue At(int column) = 0;
};

// Not thread safe. Walks may be under way side by side; the relation outlives
// them.
class Relation {
 public:
  virtual ~Relation() = default;

  virtual const char* name() const = 0;   // a word of SQL
  virtual const char* about() const = 0;  // what a row is: a phrase
  virtual absl::Span<const RelationColumn> columns() const = 0;
  virtual std::unique_ptr<RowCursor> Rows() = 0;
  // About how many, as far as that is known beforehand.
  virtual uint64_t expected_rows() { return uint64_t{1} << 20; }

  // How many rows have one value of this column, about; 0: Find() does not look
  // for it.
  virtual uint64_t RowsOfOne(int column) const { return 0; }
  // The rows whose cell may equal the number, or text for a column of text: all
  // that do are among them. REQUIRES: RowsOfOne(column) is above 0.
  virtual std::unique_ptr<RowCursor> Find(int column, int64_t number,
                                          absl::string_view text) {
    return Rows();
  }
  // Why there can be no rows: what was not recorded, and how it would have
  // been. Empty: nothing is known to be missing.
  virtual std::string Missing() { return ""; }
};

using Relations = std::vector<std::unique_ptr<Relation>>;

// "text", "integer" or "real"; "bytes", "s" or nothing.
absl::string_view KindName(ValueKind kind);
absl::string_view UnitName(Unit unit);

// The relations of several runs by their names, as one. They have one column
// more, the last: `run`, the run's name. REQUIRES: each run has the same
// relations in the same order, and there is one run or more.
Relations JoinRuns(std::vector<std::pair<std::string, Relations>> runs);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RELATIONS_ENGINE_RELATION_H_
