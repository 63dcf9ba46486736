// Relations that are specified by a table of columns.
#ifndef PYMEMRUN_READERS_RELATIONS_ENGINE_RELATION_COLUMNS_H_
#define PYMEMRUN_READERS_RELATIONS_ENGINE_RELATION_COLUMNS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "readers/relations/engine/relation.h"

namespace pymemrun {

// Values for cells.
inline RelationValue SecondsOf(uint64_t us) {
  return static_cast<double>(us) / 1e6;
}
inline RelationValue SecondsOfNs(uint64_t ns) {
  return static_cast<double>(ns) / 1e9;
}
inline RelationValue IntegerOf(uint64_t number) {
  return static_cast<int64_t>(number);
}
// 0 is unknown.
inline RelationValue IntegerOrNot(uint64_t number) {
  return number == 0 ? RelationValue() : IntegerOf(number);
}
inline RelationValue TextOrNot(absl::string_view text) {
  return text.empty() ? RelationValue() : RelationValue(text);
}
// The text is kept in `made` until the next one is made.
inline RelationValue AddressOf(uint64_t address, std::string* made) {
  *made = absl::StrCat("0x", absl::Hex(address));
  return absl::string_view(*made);
}

// A column, and the function for its cells. A `Row` is a small struct that
// refers to what the row shows.
template <typename Row>
struct ColumnOf {
  const char* name;
  ColumnType type;
  const char* about;
  RelationValue (*cell)(const Row&);
};

// The name and columns of a relation. They live as long as the program.
template <typename Row>
struct RelationSpec {
  const char* name;
  const char* about;
  absl::Span<const ColumnOf<Row>> columns;
};

// Implements the parts of a relation that its specification has.
template <typename Row>
class SpecifiedRelation : public Relation {
 public:
  explicit SpecifiedRelation(const RelationSpec<Row>& spec) : spec_(spec) {
    for (const ColumnOf<Row>& column : spec.columns) {
      heads_.push_back({column.name, column.type, column.about});
    }
  }
  const char* name() const override { return spec_.name; }
  const char* about() const override { return spec_.about; }
  absl::Span<const RelationColumn> columns() const override { return heads_; }
  const RelationSpec<Row>& spec() const { return spec_; }

 private:
  const RelationSpec<Row> spec_;
  std::vector<RelationColumn> heads_;
};

// A relation of numbered rows. Derived classes return their number, and each
// row.
template <typename Row>
class NumberedRelation : public SpecifiedRelation<Row> {
 public:
  using SpecifiedRelation<Row>::SpecifiedRelation;
  std::unique_ptr<RowCursor> Rows() override {
    const absl::StatusOr<uint64_t> end = End();
    return std::make_unique<Cursor>(this, First(), end.value_or(0),
                                    end.status());
  }

 protected:
  virtual uint64_t First() const { return 0; }
  // One more than the last row's number. Reads the rows at the first call.
  // Fails if they cannot be read.
  virtual absl::StatusOr<uint64_t> End() = 0;
  // `made`: see AddressOf().
  virtual Row RowAt(uint64_t number, std::string* made) = 0;
  // Walks over the row of this number, if it exists.
  std::unique_ptr<RowCursor> OneRow(int64_t number) {
    const absl::StatusOr<uint64_t> end = End();
    const auto row = static_cast<uint64_t>(number);
    const bool is_there = row >= First() && row < end.value_or(0);
    return std::make_unique<Cursor>(this, row, is_there ? row + 1 : row,
                                    end.status());
  }

 private:
  class Cursor final : public RowCursor {
   public:
    Cursor(NumberedRelation* relation, uint64_t begin, uint64_t end,
           absl::Status status)
        : relation_(*relation),
          next_(begin),
          end_(end),
          status_(std::move(status)) {}
    absl::StatusOr<bool> Next() override {
      if (!status_.ok()) return status_;
      row_ = next_;
      return next_++ < end_;
    }
    RelationValue At(int column) override {
      return relation_.spec().columns[column].cell(
          relation_.RowAt(row_, &made_));
    }

   private:
    NumberedRelation& relation_;
    uint64_t next_, row_ = 0;
    const uint64_t end_;
    const absl::Status status_;
    std::string made_;
  };
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RELATIONS_ENGINE_RELATION_COLUMNS_H_
