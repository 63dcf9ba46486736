// Matches the lines, and the functions, of two runs, even if they have moved.
#ifndef PYMEMRUN_READERS_ACROSS_RUNS_DIFF_CODE_MATCH_H_
#define PYMEMRUN_READERS_ACROSS_RUNS_DIFF_CODE_MATCH_H_

#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "readers/run/run_index.h"

namespace pymemrun {

// A line or a function in a run. Names live as long as the run's index.
struct CodeItem {
  absl::string_view file;
  uint32_t line = 0;             // a function's first line
  absl::string_view name;        // of a function; empty for a line
  absl::string_view qualname;    // of the function
  uint32_t offset = 0;           // of a line from its function's first
  std::optional<uint32_t> hash;  // of a line's text; none: unknown
  // Size and last change of a line's file; 0: unknown.
  std::pair<uint64_t, uint64_t> stamp = {};

  friend bool operator<(const CodeItem& a, const CodeItem& b) {
    return std::tie(a.file, a.line, a.name) < std::tie(b.file, b.line, b.name);
  }
};

// The lines, and the functions, in a run's stacks and sites: sorted, each once.
// A line that belongs to several functions gets the one with the shortest name:
// a line in a comprehension gets the function around it.
std::vector<CodeItem> LinesOf(const RunIndex& index);
std::vector<CodeItem> FunctionsOf(const RunIndex& index);

// What became of an item of `before`.
struct CodeMatch {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t after = kNone;  // number in `after`; kNone: it is gone
  bool edited = false;     // its text changed
  bool moved = false;      // to another function or file
};

// Returns a match for each item of `before`. In these steps, each for what is
// left of the step before:
//
// 1. Lines of a file that did not change match by their number.
//
// 2. Lines of one function with the same text match: first those at the same
// distance from the function's first line, then the others in their order.
//
// 3. If a run does not know the text, the distance alone counts.
//
// 4. A line at the same distance, or the only one between two matched lines,
// was edited.
//
// 5. A text or a function left in `before`, and once in `after`, has moved:
// within its file, or else to another one.
std::vector<CodeMatch> MatchCode(const std::vector<CodeItem>& before,
                                 const std::vector<CodeItem>& after);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ACROSS_RUNS_DIFF_CODE_MATCH_H_
