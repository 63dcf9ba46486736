// A place that bytes are charged to, and what places are told apart by. Used by
// the reports of growth, of resident pages and of the heap alike.
#ifndef PYMEMRUN_READERS_PLACES_PLACE_H_
#define PYMEMRUN_READERS_PLACES_PLACE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "readers/output/table.h"
#include "readers/run/run_index.h"

namespace pymemrun {

enum class GroupBy {
  kLine,         // of the user's own code, whichever library it called
  kWorkLine,     // the same, but kImports is a place of its own
  kLibraryLine,  // the innermost one
  kFunction,
  kFile,
  kThread,
  kMapping,    // what a page is part of, whoever owns it
  kModule,     // the file whose code touched the page, or called malloc
  kAllocator,  // CPython's domain, or the C function
  kStack,
  kTask,     // of asyncio
  kPackage,  // of the innermost line
};

// "line", "function", "file", ...
absl::string_view GroupByName(GroupBy by);
// The one of `accepted` that has this name.
std::optional<GroupBy> ParseGroupBy(absl::string_view name,
                                    absl::Span<const GroupBy> accepted);
// Its places have a line and a function.
inline bool HasLines(GroupBy by) {
  return by == GroupBy::kLine || by == GroupBy::kWorkLine ||
         by == GroupBy::kLibraryLine || by == GroupBy::kFunction;
}
// What the frames of a call tree are: their own lines, unless functions or
// files are asked for.
inline GroupBy FramesBy(GroupBy by) {
  return by == GroupBy::kFunction || by == GroupBy::kFile
             ? by
             : GroupBy::kLibraryLine;
}
// Whether the frames say it all: else each place by that has a tree of its own.
inline bool IsOfFrames(GroupBy by) {
  return HasLines(by) || by == GroupBy::kFile;
}

// Its names live elsewhere, mostly in the run's index.
struct Place {
  absl::string_view file;  // or the only name of a place that has no line
  uint32_t line = 0;       // of kFunction the first; 0: it has none
  absl::string_view function;

  friend bool operator==(const Place& a, const Place& b) {
    return a.line == b.line && a.file == b.file && a.function == b.function;
  }
  friend bool operator<(const Place& a, const Place& b) {
    return std::tie(a.file, a.line, a.function) <
           std::tie(b.file, b.line, b.function);
  }
  template <typename H>
  friend H AbslHashValue(H h, const Place& place) {
    return H::combine(std::move(h), place.file, place.line, place.function);
  }
};

// Rows that are no places: what lies beyond a limit, what threads have that a
// report is not of, what pages that were there before tracing are charged to,
// and what has no owner.
inline constexpr absl::string_view kOtherPlaces = "<other places>";
inline constexpr absl::string_view kOtherThreads = "<other threads>";
inline constexpr absl::string_view kBeforeTracing = "<before tracing>";
// What tracing itself uses: of the heap, and of what was there before.
inline constexpr absl::string_view kTracingItself = "<tracing itself>";
// Threads that never ran Python code.
inline constexpr absl::string_view kNativeThreads = "<native threads>";
inline constexpr absl::string_view kUnattributed = "unattributed";
// Of kTask: what no task did.
inline constexpr absl::string_view kNoTask = "<no task>";
// Of kPackage: what lies in none.
inline constexpr absl::string_view kYourCode = "<your code>";
// Of kWorkLine: what importing modules takes.
inline constexpr absl::string_view kImports = "<imports>";

inline Place NamedPlace(absl::string_view name) { return {name, 0, {}}; }
// REQUIRES: kLine, kLibraryLine, kFunction, kFile or kPackage.
Place PlaceOf(GroupBy by, const SourceLocation& where);
// In one line, for legends and column names: "/job.py:5 load", "/job.py",
// "worker#4712".
std::string LabelOf(const Place& place);
// As a frame of a call tree: "load (/job.py:5)".
std::string FrameLabelOf(const Place& place);
// LabelOf() each, with paths that are as short as tells them apart.
std::vector<std::string> ShortLabelsOf(const std::vector<Place>& places);

// The columns of a table that name a place: file, line and function, or one
// name.
std::vector<Table::Heading> PlaceHeadings(GroupBy by);
// Cells of these columns. A line 0 is not known.
std::vector<Cell> PlaceCells(GroupBy by, const Place& place);
// Of a row that is no place.
std::vector<Cell> NameCells(GroupBy by, absl::string_view name);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PLACES_PLACE_H_
