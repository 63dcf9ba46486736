#include "readers/places/table_view.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

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

std::optional<double> NumberOf(const Cell& cell) {
  if (const auto* whole = std::get_if<int64_t>(&cell)) {
    return static_cast<double>(*whole);
  }
  if (const auto* whole = std::get_if<uint64_t>(&cell)) {
    return static_cast<double>(*whole);
  }
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  if (const auto* real = std::get_if<ExactNumber>(&cell)) return real->value;
  return std::nullopt;
}

bool ComesFirst(const Cell& a, const Cell& b, bool rises) {
  const auto x = NumberOf(a), y = NumberOf(b);
  if (x.has_value() && y.has_value()) return rises ? *x < *y : *x > *y;
  if (x.has_value() || y.has_value()) return x.has_value();
  const auto* s = std::get_if<std::string>(&a);
  const auto* t = std::get_if<std::string>(&b);
  if (s != nullptr && t != nullptr) return *s < *t;
  return s != nullptr;
}

// A cell of the row that stands for several: errors add up as squares, and what
// any place may miss stays.
Cell Sum(const Table::Heading& heading, const Cell& a, const Cell& b) {
  if (absl::StartsWith(heading.name, "unseen_")) return a;
  const auto x = NumberOf(a), y = NumberOf(b);
  if (!x.has_value()) return y.has_value() ? b : Cell();
  if (!y.has_value()) return a;
  if (absl::StartsWith(heading.name, "error_")) {
    return static_cast<uint64_t>(std::llround(std::hypot(*x, *y)));
  }
  if (std::holds_alternative<double>(a)) return *x + *y;
  if (std::holds_alternative<ExactNumber>(a)) return ExactNumber{*x + *y};
  if (std::holds_alternative<int64_t>(a)) {
    return std::get<int64_t>(a) + static_cast<int64_t>(*y);
  }
  return std::get<uint64_t>(a) + static_cast<uint64_t>(*y);
}

bool IsName(const Table::Heading& heading) {
  return heading.look == CellLook::kName || heading.look == CellLook::kKey ||
         heading.name == "line";
}

void AddTo(const std::vector<Table::Heading>& headings,
           const std::vector<Cell>& row, std::vector<Cell>* sum) {
  const bool is_first = sum->empty();
  sum->resize(row.size());
  for (size_t i = 0; i < row.size(); ++i) {
    if (IsName(headings[i])) continue;
    (*sum)[i] = is_first ? row[i] : Sum(headings[i], (*sum)[i], row[i]);
  }
  (*sum)[0] = std::string(kOtherPlaces);
}

bool IsCalled(const Table::Heading& heading, absl::string_view name) {
  return heading.name == name || heading.title == name ||
         absl::StartsWith(heading.name, absl::StrCat(name, "_"));
}

// The first that is called so; nothing if there is no such column.
std::optional<size_t> ColumnOf(const Table& table, absl::string_view name) {
  for (size_t i = 0; i < table.headings.size(); ++i) {
    if (IsCalled(table.headings[i], name)) return i;
  }
  return std::nullopt;
}

absl::Status NoColumn(const Table& table, absl::string_view name) {
  return absl::InvalidArgumentError(absl::StrCat(
      "--sort: expected ",
      absl::StrJoin(table.headings, ", ",
                    [](std::string* out, const Table::Heading& heading) {
                      absl::StrAppend(
                          out, absl::StripSuffix(heading.name, "_bytes"));
                    }),
      ", found '", TerminalText(name), "'"));
}

}  // namespace

bool TableView::Lists(absl::string_view file) const {
  const std::string name(file);
  return (files.empty() || FileMatchesAny(files, name)) &&
         !FileMatchesAny(excluded, name);
}

absl::Status TableView::Apply(uint64_t limit, bool folds, Table* table) const {
  const auto end = table->rows.begin() + table->places;
  auto listed = end;
  if (chooses_files()) {
    const auto file = ColumnOf(*table, "file");
    if (!file.has_value()) {
      return absl::InvalidArgumentError(
          "--file and --exclude take --by line, library-line, function or "
          "file");
    }
    listed = std::stable_partition(
        table->rows.begin(), end, [this, file](const auto& row) {
          const auto* name = std::get_if<std::string>(&row[*file]);
          return name != nullptr && Lists(*name);
        });
  }
  if (!sort.empty()) {
    const auto by = ColumnOf(*table, sort);
    if (!by.has_value()) return NoColumn(*table, sort);
    const bool rises = IsName(table->headings[*by]);
    std::stable_sort(table->rows.begin(), listed,
                     [by, rises](const auto& a, const auto& b) {
                       return ComesFirst(a[*by], b[*by], rises);
                     });
  }
  const auto most = static_cast<uint64_t>(listed - table->rows.begin());
  const size_t kept = limit == 0 ? most : std::min(limit, most);
  std::vector<Cell> others;
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
