// Which lines, or functions, of two runs are the same, however they moved.
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

// A line, or a function, that a run names. Names live as long as its index.
struct CodeItem {
  absl::string_view file;
  uint32_t line = 0;             // of a function its first
  absl::string_view name;        // of a function; empty of a line
  absl::string_view qualname;    // of the function
  uint32_t offset = 0;           // of a line in its function
  std::optional<uint32_t> hash;  // of a line's text
  // Of a line's file: its size and its last change; 0: not known.
  std::pair<uint64_t, uint64_t> stamp = {};

  friend bool operator<(const CodeItem& a, const CodeItem& b) {
    return std::tie(a.file, a.line, a.name) < std::tie(b.file, b.line, b.name);
  }
};

// Those that the run names, each once, in their order. A line that several
// functions have is that of the shortest name: a comprehension's is that of the
// function around it.
std::vector<CodeItem> LinesOf(const RunIndex& index);
std::vector<CodeItem> FunctionsOf(const RunIndex& index);

struct CodeMatch {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t after = kNone;  // kNone: it is gone
  bool edited = false;     // its text is another
  bool moved = false;      // to another function, or to another file
};

// By item of `before`, what it is in `after`. Of a file that did not change,
// lines are what their number says. Otherwise lines of one function of one file
// are the same where their text is; of several with one text those at the same
// distance from the function's first line, and then in their order. Where a run
// does not know the text, that distance alone counts. What is left over at the
// same distance, or alone between two lines that are the same, was edited. A
// text, or a function, that has gone here and has come there alone has moved.
std::vector<CodeMatch> MatchCode(const std::vector<CodeItem>& before,
                                 const std::vector<CodeItem>& after);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ACROSS_RUNS_DIFF_CODE_MATCH_H_
