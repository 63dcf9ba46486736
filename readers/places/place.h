// A place that bytes are charged to, and the ways to group by places. Used by
// the reports of growth, resident pages and the heap.
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

// The values of --by: what places are.
enum class GroupBy {
  kLine,         // of the user's own code, whatever library it called
  kWorkLine,     // the same, but imports are one place
  kLibraryLine,  // the innermost line
  kFunction,
  kFile,
  kThread,
  kMapping,    // the mapping of the page, whoever owns it
  kModule,     // the file whose code touched the page, or called malloc
  kAllocator,  // CPython's domain, or the C function
  kStack,
  kTask,     // of asyncio
  kPackage,  // of the innermost line
};

// "line", "function", "file", ...
absl::string_view GroupByName(GroupBy by);
// Returns the one of `accepted` with this name, or nothing.
std::optional<GroupBy> ParseGroupBy(absl::string_view name,
                                    absl::Span<const GroupBy> accepted);
// Whether its places have a line and a function.
inline bool HasLines(GroupBy by) {
  return by == GroupBy::kLine || by == GroupBy::kWorkLine ||
         by == GroupBy::kLibraryLine || by == GroupBy::kFunction;
}
// The frames of a call tree: lines, unless functions or files were requested.
inline GroupBy FramesBy(GroupBy by) {
  return by == GroupBy::kFunction || by == GroupBy::kFile
             ? by
             : GroupBy::kLibraryLine;
}
// Whether the frames are the places; otherwise each place has a tree of its
// own.
inline bool IsOfFrames(GroupBy by) {
  return HasLines(by) || by == GroupBy::kFile;
}

// A place. Its names live elsewhere, mostly in the run's index.
struct Place {
  absl::string_view file;  // or the name of a place without a line
  uint32_t line = 0;       // 0: none; kFunction: the function's first
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

// Names of rows that are not places: places beyond a limit, threads that the
// report leaves out, pages from before tracing, and memory without an owner.
inline constexpr absl::string_view kOtherPlaces = "<other places>";
inline constexpr absl::string_view kOtherThreads = "<other threads>";
inline constexpr absl::string_view kBeforeTracing = "<before tracing>";
// Memory that tracing itself uses, on the heap or from before tracing.
inline constexpr absl::string_view kTracingItself = "<tracing itself>";
// Threads that never ran Python code.
inline constexpr absl::string_view kNativeThreads = "<native threads>";
inline constexpr absl::string_view kUnattributed = "unattributed";
// kTask: memory of no task.
inline constexpr absl::string_view kNoTask = "<no task>";
// kPackage: memory of no package.
inline constexpr absl::string_view kYourCode = "<your code>";
// kWorkLine: memory for importing modules.
inline constexpr absl::string_view kImports = "<imports>";

// A place that is only a name.
inline Place NamedPlace(absl::string_view name) { return {name, 0, {}}; }
// REQUIRES: `by` is kLine, kLibraryLine, kFunction, kFile or kPackage.
Place PlaceOf(GroupBy by, const SourceLocation& where);
// In one line, for legends and column names: "/job.py:5 load", "/job.py",
// "worker#4712".
std::string LabelOf(const Place& place);
// As a frame of a call tree: "load (/job.py:5)".
std::string FrameLabelOf(const Place& place);
// LabelOf() for each place; paths are as short as they can be and still differ.
std::vector<std::string> ShortLabelsOf(const std::vector<Place>& places);

// The columns that name a place: file, line and function, or one name.
std::vector<Table::Heading> PlaceHeadings(GroupBy by);
// The cells of these columns. Line 0 is unknown.
std::vector<Cell> PlaceCells(GroupBy by, const Place& place);
// The same for a row that is not a place.
std::vector<Cell> NameCells(GroupBy by, absl::string_view name);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PLACES_PLACE_H_
