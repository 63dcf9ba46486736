#include "readers/relations/engine/relation.h"

#include <cstddef>
#include <functional>

#include "absl/strings/str_cat.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

struct RunRelation {
  std::string run;
  std::unique_ptr<Relation> relation;
};
using OpenCursor = std::function<std::unique_ptr<RowCursor>(Relation*)>;

// Joins the rows of several runs.
class JoinedCursor final : public RowCursor {
 public:
  JoinedCursor(absl::Span<const RunRelation> runs, int run_column,
               OpenCursor open)
      : runs_(runs), run_column_(run_column), open_(std::move(open)) {}

  absl::StatusOr<bool> Next() override {
    for (;;) {
      if (cursor_ == nullptr) {
        if (run_ == runs_.size()) return false;
        cursor_ = open_(runs_[run_].relation.get());
      }
      const absl::StatusOr<bool> more = cursor_->Next();
      if (!more.ok()) {
        return absl::Status(more.status().code(),
                            absl::StrCat(TerminalText(runs_[run_].run), ": ",
                                         more.status().message()));
      }
      if (*more) return true;
      cursor_ = nullptr;
      ++run_;
    }
  }
  RelationValue At(int column) override {
    if (column == run_column_) return absl::string_view(runs_[run_].run);
    return cursor_->At(column);
  }

 private:
  const absl::Span<const RunRelation> runs_;
  const int run_column_;
  const OpenCursor open_;
  size_t run_ = 0;
  std::unique_ptr<RowCursor> cursor_;  // of that run; null: not begun
};

constexpr RelationColumn kRunColumn = {"run", kText, "the file"};

// The rows of all runs, one run after the other. Columns are those of the first
// run: all runs have the same relations.
class JoinedRelation final : public Relation {
 public:
  explicit JoinedRelation(std::vector<RunRelation> runs)
      : runs_(std::move(runs)) {
    const auto columns = first().columns();
    columns_.assign(columns.begin(), columns.end());
    columns_.push_back(kRunColumn);
  }
  const char* name() const override { return first().name(); }
  const char* about() const override { return first().about(); }
  absl::Span<const RelationColumn> columns() const override { return columns_; }
  uint64_t expected_rows() override {
    uint64_t rows = 0;
    for (const RunRelation& run : runs_) rows += run.relation->expected_rows();
    return rows;
  }
  std::unique_ptr<RowCursor> Rows() override {
    return Cursor([](Relation* relation) { return relation->Rows(); });
  }
  uint64_t RowsOfOne(int column) const override {
    if (column == run_column()) return 0;
    return first().RowsOfOne(column) * runs_.size();
  }
  std::unique_ptr<RowCursor> Find(int column, int64_t number,
                                  absl::string_view text) override {
    return Cursor([column, number, wanted = std::string(text)](Relation* of) {
      return of->Find(column, number, wanted);
    });
  }
  // Something is missing only if no run has it.
  std::string Missing() override {
    std::string missing;
    for (const RunRelation& run : runs_) {
      missing = run.relation->Missing();
      if (missing.empty()) break;
    }
    return missing;
  }

 private:
  const Relation& first() const { return *runs_[0].relation; }
  int run_column() const { return static_cast<int>(columns_.size()) - 1; }
  std::unique_ptr<RowCursor> Cursor(OpenCursor open) {
    return std::make_unique<JoinedCursor>(runs_, run_column(), std::move(open));
  }

  const std::vector<RunRelation> runs_;
  std::vector<RelationColumn> columns_;
};

}  // namespace

// SQL and Arrow have no unsigned integers here: all become int64_t.
RelationValue ValueOf(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* of = std::get_if<double>(&cell)) return *of;
  if (const auto* of = std::get_if<ExactNumber>(&cell)) return of->value;
  if (const auto* of = std::get_if<int64_t>(&cell)) return *of;
  const auto* const of = std::get_if<uint64_t>(&cell);
  return of == nullptr ? RelationValue() : static_cast<int64_t>(*of);
}

absl::string_view KindName(ValueKind kind) {
  switch (kind) {
    case ValueKind::kText:
      return "text";
    case ValueKind::kInteger:
      return "integer";
    case ValueKind::kReal:
      return "real";
  }
  return "?";
}

absl::string_view UnitName(Unit unit) {
  switch (unit) {
    case Unit::kNone:
      return "";
    case Unit::kBytes:
      return "bytes";
    case Unit::kSeconds:
      return "s";
  }
  return "?";
}

// Each run gives the same relations in the same order: those of one place are
// joined.
Relations JoinRuns(std::vector<std::pair<std::string, Relations>> runs) {
  Relations joined;
  for (size_t i = 0; i < runs[0].second.size(); ++i) {
    std::vector<RunRelation> parts;
    for (auto& [name, relations] : runs) {
      parts.push_back({name, std::move(relations[i])});
    }
    joined.push_back(std::make_unique<JoinedRelation>(std::move(parts)));
  }
  return joined;
}

}  // namespace pymemrun
