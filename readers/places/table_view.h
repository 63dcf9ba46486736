// Which places a table lists, and in what order: --sort, --file, --exclude,
// --function. Used by the commands that list places.
#ifndef PYMEMRUN_READERS_PLACES_TABLE_VIEW_H_
#define PYMEMRUN_READERS_PLACES_TABLE_VIEW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "readers/output/table.h"

namespace pymemrun {

// The value of --sort: "live", "live:asc", "file:desc".
struct SortOrder {
  static SortOrder Of(absl::string_view sort);
  // Says that a table with these columns lacks the one that was `found`.
  static absl::Status Unknown(const std::vector<absl::string_view>& names,
                              absl::string_view found);

  absl::string_view column;
  std::optional<bool> rises;  // none: as usual for the column's values
};

// The options that choose and sort the places of a table.
struct TableView {
  // A column by its name in CSV or text, with ":asc" or ":desc" for another
  // direction than sizes down and names up. Empty: keep the order.
  std::string sort;
  // Other names of columns for --sort: {"time", "ran_s"}.
  std::vector<std::pair<std::string, std::string>> sort_names;
  // Shell patterns of files, or of the ends of their paths. Empty: all.
  std::vector<std::string> files;
  std::vector<std::string> excluded;
  std::vector<std::string> functions;  // shell patterns of names; empty: all
  // Shell patterns of tasks, with their functions or without. REQUIRES: empty
  // unless places are tasks.
  std::vector<std::string> tasks;
  // Whether a column without any value is left out when the table is printed:
  // nothing is sorted by it.
  bool drops_empty = false;

  bool any() const { return !sort.empty() || chooses_places(); }
  bool chooses_files() const { return !files.empty() || !excluded.empty(); }
  bool chooses_places() const {
    return chooses_files() || !functions.empty() || !tasks.empty();
  }
  // `file` is the name of a place that has no line.
  bool Lists(absl::string_view file, absl::string_view function) const;
  // Why it cannot be used for places without files or functions; empty: it can.
  std::string Problem(bool have_files, bool have_functions) const;
  // "--file 'etl.py' leaves no ": for a table that became empty. REQUIRES:
  // chooses_places().
  std::string LeavesNone() const;
  // Keeps at most `limit` places (0: all) of a table that has all. The others
  // become one row if `folds`, otherwise none. Fails if the table lacks the
  // column; the message lists its columns.
  absl::Status Apply(uint64_t limit, bool folds, Table* table) const;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PLACES_TABLE_VIEW_H_
