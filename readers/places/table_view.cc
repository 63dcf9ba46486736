#include "readers/places/table_view.h"

#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "readers/places/place.h"
#include "text/file_glob.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

std::optional<double> NumberIn(const Cell& cell) {
  if (const auto* whole = std::get_if<int64_t>(&cell)) {
    return static_cast<double>(*whole);
  }
  if (const auto* whole = std::get_if<uint64_t>(&cell)) {
    return static_cast<double>(*whole);
  }
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  if (const auto* real = std::get_if<ExactNumber>(&cell)) return real->value;
  // A time as text: "12.345 s".
  const auto* text = std::get_if<std::string>(&cell);
  double seconds = 0;
  if (text != nullptr && absl::EndsWith(*text, " s") &&
      absl::SimpleAtod(absl::StripSuffix(*text, " s"), &seconds)) {
    return seconds;
  }
  return std::nullopt;
}

// Empty for a cell that is not text.
absl::string_view TextOf(const Cell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  return text == nullptr ? absl::string_view() : *text;
}

// The number to sort by: a time for people, "12.345", is one, too.
std::optional<double> AmountOf(const Cell& cell) {
  const absl::string_view text = TextOf(cell);
  double number = 0;
  const bool is_number = !text.empty() && absl::ascii_isdigit(text.back()) &&
                         absl::SimpleAtod(text, &number);
  return is_number ? number : NumberIn(cell);
}

// Empty cells come last in both directions.
bool ComesFirst(const Cell& a, const Cell& b, bool is_name, bool rises) {
  const auto x = is_name ? std::nullopt : AmountOf(a);
  const auto y = is_name ? std::nullopt : AmountOf(b);
  // Numbers before text, and text before nothing.
  if (x.has_value() && y.has_value()) return rises ? *x < *y : *x > *y;
  if (x.has_value() || y.has_value()) return x.has_value();
  const absl::string_view s = TextOf(a), t = TextOf(b);
  if (s.empty() || t.empty()) return !s.empty();
  return rises ? s < t : s > t;
}

// A cell of the row that sums up several: errors are added as squares; the
// amount that a place may miss is kept.
Cell Sum(const Table::Heading& heading, const Cell& a, const Cell& b) {
  // The amount is the same for every place.
  if (absl::StartsWith(heading.name, "unseen_")) return a;
  const auto x = NumberIn(a), y = NumberIn(b);
  if (!x.has_value()) return y.has_value() ? b : Cell();
  if (!y.has_value()) return a;
  // Independent errors add up as squares.
  if (absl::StartsWith(heading.name, "error_")) {
    return static_cast<uint64_t>(std::llround(std::hypot(*x, *y)));
  }
  if (std::holds_alternative<double>(a)) return *x + *y;
  if (std::holds_alternative<ExactNumber>(a)) return ExactNumber{*x + *y};
  if (const auto* whole = std::get_if<int64_t>(&a)) {
    return *whole + static_cast<int64_t>(*y);
  }
  if (const auto* whole = std::get_if<uint64_t>(&a)) {
    return *whole + static_cast<uint64_t>(*y);
  }
  return Cell();  // times of day cannot be summed
}

// A line number is part of a name: it is not summed up.
bool IsName(const Table::Heading& heading) {
  return heading.look == CellLook::kName || heading.look == CellLook::kKey ||
         heading.name == "line";
}

void AddTo(const std::vector<Table::Heading>& headings,
           const std::vector<Cell>& row, std::vector<Cell>* sum) {
  const bool is_first = sum->empty();
  sum->resize(row.size());
  for (size_t i = 0; i < row.size(); ++i) {
    // The sum has no name of its own.
    if (IsName(headings[i])) continue;
    (*sum)[i] = is_first ? row[i] : Sum(headings[i], (*sum)[i], row[i]);
  }
  (*sum)[0] = std::string(kOtherPlaces);
}

bool IsCalled(const Table::Heading& heading, absl::string_view name) {
  return heading.name == name || heading.title == name ||
         absl::StartsWith(heading.name, absl::StrCat(name, "_"));
}

// The column with this name, or else the first one with this title; nothing if
// the table has neither.
std::optional<size_t> ColumnOf(const Table& table, absl::string_view name) {
  for (size_t i = 0; i < table.headings.size(); ++i) {
    if (table.headings[i].name == name) return i;
  }
  // Tables for machines have headings without a title.
  for (size_t i = 0; i < table.headings.size() && !name.empty(); ++i) {
    if (IsCalled(table.headings[i], name)) return i;
  }
  return std::nullopt;
}

// Matches the whole name, or its first words.
bool MatchesAny(const std::vector<std::string>& patterns,
                const std::string& name) {
  return std::any_of(
      patterns.begin(), patterns.end(), [&name](const std::string& pattern) {
        return fnmatch(pattern.c_str(), name.c_str(), 0) == 0 ||
               fnmatch((pattern + " *").c_str(), name.c_str(), 0) == 0;
      });
}

// Whether each row leaves that column empty.
bool IsEmpty(const Table& table, size_t column) {
  return std::all_of(
      table.rows.begin(), table.rows.end(),
      [column](const std::vector<Cell>& row) {
        return std::holds_alternative<std::monostate>(row[column]);
      });
}

absl::Status NoColumn(const TableView& view, const Table& table) {
  std::vector<absl::string_view> names;
  for (const auto& [name, column] : view.sort_names) names.push_back(name);
  for (size_t i = 0; i < table.headings.size(); ++i) {
    if (!table.rows.empty() && IsEmpty(table, i)) continue;
    const absl::string_view name =
        absl::StripSuffix(table.headings[i].name, "_bytes");
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  }
  const absl::Status unknown = SortOrder::Unknown(names, view.sort);
  return absl::InvalidArgumentError(
      absl::StrCat("--sort: ", unknown.message()));
}

// Sorts the first `count` rows. By default names ascend, and figures descend.
absl::Status SortRows(const TableView& view, size_t count, Table* table) {
  const SortOrder order = SortOrder::Of(view.sort);
  absl::string_view name = order.column;
  for (const auto& [other, column] : view.sort_names) {
    if (other == order.column) name = column;
  }
  const auto found = ColumnOf(*table, name);
  if (!found.has_value() ||
      (view.drops_empty && !table->rows.empty() && IsEmpty(*table, *found))) {
    return NoColumn(view, *table);
  }
  const size_t by = *found;
  const auto begin = table->rows.begin(), end = begin + count;
  const bool is_name =
      IsName(table->headings[by]) && table->headings[by].name != "line";
  const bool rises =
      order.rises.value_or(IsName(table->headings[by]) ||
                           // A column without a number is sorted like names.
                           std::none_of(begin, end, [by](const auto& row) {
                             return AmountOf(row[by]).has_value();
                           }));
  std::stable_sort(begin, end, [=](const auto& a, const auto& b) {
    return ComesFirst(a[by], b[by], is_name, rises);
  });
  return absl::OkStatus();
}

}  // namespace

SortOrder SortOrder::Of(absl::string_view sort) {
  for (const bool rises : {true, false}) {
    absl::string_view column = sort;
    if (absl::ConsumeSuffix(&column, rises ? ":asc" : ":desc")) {
      return {column, rises};
    }
  }
  return {sort, std::nullopt};
}

absl::Status SortOrder::Unknown(const std::vector<absl::string_view>& names,
                                absl::string_view found) {
  return absl::InvalidArgumentError(absl::StrCat(
      "expected ", absl::StrJoin(names, ", "),
      ", or one with :asc or :desc, found '", TerminalText(found), "'"));
}

bool TableView::Lists(absl::string_view file,
                      absl::string_view function) const {
  const std::string name(file), of(function);
  if (!tasks.empty()) return MatchesAny(tasks, name);
  return (files.empty() || FileMatchesAny(files, name)) &&
         !FileMatchesAny(excluded, name) &&
         (functions.empty() || MatchesAny(functions, of));
}

std::string TableView::Problem(bool have_files, bool have_functions) const {
  if (!functions.empty() && !have_functions) {
    return "--function takes --by line, library-line or function";
  }
  if (!chooses_files() || have_files) return "";
  return "--file and --exclude take --by line, library-line, function or file";
}

std::string TableView::LeavesNone() const {
  std::vector<std::string> given;
  const std::pair<const char*, const std::vector<std::string>*> options[] = {
      {"--file", &files},
      {"--exclude", &excluded},
      {"--function", &functions},
      {"--task", &tasks}};
  for (const auto& [option, globs] : options) {
    for (const std::string& glob : *globs) {
      given.push_back(absl::StrCat(option, " '", TerminalText(glob), "'"));
    }
  }
  return absl::StrCat(absl::StrJoin(given, " and "),
                      given.size() == 1 ? " leaves" : " leave", " no ");
}

// In this order: choose, sort, limit. Rows that are left out in any step are
// summed up together.
absl::Status TableView::Apply(uint64_t limit, bool folds, Table* table) const {
  // Only the places are chosen and sorted: sums below them stay.
  const auto end = table->rows.begin() + table->places;
  auto listed = end;
  if (chooses_places()) {
    const auto file = ColumnOf(*table, tasks.empty() ? "file" : "task");
    const auto function = ColumnOf(*table, "function");
    const std::string problem = Problem(file.has_value(), function.has_value());
    if (!problem.empty()) return absl::InvalidArgumentError(problem);
    listed = std::stable_partition(
        table->rows.begin(), end, [&, this](const auto& row) {
          return Lists(TextOf(row[*file]),
                       function.has_value() ? TextOf(row[*function]) : "");
        });
  }
  if (!sort.empty()) {
    if (absl::Status s = SortRows(*this, listed - table->rows.begin(), table);
        !s.ok()) {
      return s;
    }
  }
  const auto most = static_cast<uint64_t>(listed - table->rows.begin());
  const size_t kept = limit == 0 ? most : std::min(limit, most);
  std::vector<Cell> others;
  // Those beyond the limit, and those not listed.
  for (size_t i = kept; i < table->places; ++i) {
    AddTo(table->headings, table->rows[i], &others);
  }
  table->rows.erase(table->rows.begin() + kept, end);
  table->places = kept;
  if (folds && !others.empty()) {
    table->rows.insert(table->rows.begin() + kept, std::move(others));
  }
  return absl::OkStatus();
}

}  // namespace pymemrun
