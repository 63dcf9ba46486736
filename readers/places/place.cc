#include "readers/places/place.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "readers/places/short_paths.h"
#include "readers/run/own_code.h"

namespace pymemrun {

absl::string_view GroupByName(GroupBy by) {
  static constexpr absl::string_view kNames[] = {
      "line",    "work-line", "library-line", "function", "file", "thread",
      "mapping", "module",    "allocator",    "stack",    "task", "package"};
  return kNames[static_cast<size_t>(by)];
}

std::optional<GroupBy> ParseGroupBy(absl::string_view name,
                                    absl::Span<const GroupBy> accepted) {
  for (const GroupBy by : accepted) {
    if (GroupByName(by) == name) return by;
  }
  return std::nullopt;
}

namespace {

// Code that is not Python has a name, but no file.
absl::string_view PackageOf(const SourceLocation& where) {
  if (where.file.empty()) return where.code_name;
  absl::string_view file = where.file;
  if (absl::ConsumePrefix(&file, "<frozen ")) {
    return file.substr(0, file.find_first_of(".>"));
  }
  const absl::string_view package = OwnCode::PackageOf(file);
  return package.empty() ? kYourCode : package;
}

}  // namespace

Place PlaceOf(GroupBy by, const SourceLocation& where) {
  if (by == GroupBy::kFile) return NamedPlace(where.file);
  if (by == GroupBy::kPackage) return NamedPlace(PackageOf(where));
  return {where.file, by == GroupBy::kFunction ? where.first_line : where.line,
          where.code_name};
}

std::string LabelOf(const Place& place) {
  std::string label(place.file);
  if (place.line != 0) absl::StrAppend(&label, ":", place.line);
  if (!place.function.empty()) {
    absl::StrAppend(&label, label.empty() ? "" : " ", place.function);
  }
  return label;
}

std::string FrameLabelOf(const Place& place) {
  if (place.function.empty()) return std::string(place.file);
  if (place.file.empty()) return std::string(place.function);
  std::string label = absl::StrCat(place.function, " (", place.file);
  if (place.line != 0) absl::StrAppend(&label, ":", place.line);
  return label + ")";
}

// All paths are needed first: how short one may be depends on the others.
std::vector<std::string> ShortLabelsOf(const std::vector<Place>& places) {
  std::vector<absl::string_view> paths;
  for (const Place& place : places) {
    // A whole stack is not a path.
    if (!absl::StrContains(place.file, ';')) paths.push_back(place.file);
  }
  const ShortPaths short_paths(paths);
  std::vector<std::string> labels;
  for (Place place : places) {
    place.file = short_paths.Of(place.file);
    labels.push_back(LabelOf(place));
  }
  return labels;
}

std::vector<Table::Heading> PlaceHeadings(GroupBy by) {
  if (HasLines(by)) {
    return {{"file", "file", CellLook::kName},
            {"line", by == GroupBy::kFunction ? "first line" : "line"},
            {"function", "Python function", CellLook::kName}};
  }
  const std::string name(GroupByName(by));
  return {{name, name, CellLook::kName}};
}

std::vector<Cell> PlaceCells(GroupBy by, const Place& place) {
  std::vector<Cell> cells = NameCells(by, place.file);
  if (HasLines(by)) {
    if (place.line != 0) cells[1] = uint64_t{place.line};
    cells[2] = std::string(place.function);
  }
  return cells;
}

// A name takes the column of files, and leaves line and function empty.
std::vector<Cell> NameCells(GroupBy by, absl::string_view name) {
  std::vector<Cell> cells(HasLines(by) ? 3 : 1);
  cells[0] = std::string(name);
  return cells;
}

}  // namespace pymemrun
