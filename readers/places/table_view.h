// Which places of a table are listed, and in what order: --sort, --file,
// --exclude, --function. Used by the commands that list places.
#ifndef PYMEMRUN_READERS_PLACES_TABLE_VIEW_H_
#define PYMEMRUN_READERS_PLACES_TABLE_VIEW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "readers/output/table.h"

namespace pymemrun {

// What --sort says: "live", "live:asc", "file:desc".
struct SortOrder {
  static SortOrder Of(absl::string_view sort);

  absl::string_view column;
  std::optional<bool> rises;  // nothing: as the column's values do
};

struct TableView {
  // A column, as CSV or text names it, and ":asc" or ":desc" behind it if sizes
  // are not to go down or names up. Empty: as it is.
  std::string sort;
  // Shell patterns of files, or of their last parts. Empty: all.
  std::vector<std::string> files;
  std::vector<std::string> excluded;
  std::vector<std::string> functions;  // shell patterns of names; empty: all
  // The same of tasks, with their functions or without. REQUIRES: empty unless
  // places are tasks.
  std::vector<std::string> tasks;

  bool any() const { return !sort.empty() || chooses_places(); }
  bool chooses_files() const { return !files.empty() || !excluded.empty(); }
  bool chooses_places() const {
    return chooses_files() || !functions.empty() || !tasks.empty();
  }
  // `file`: or the name of a place that has no line.
  bool Lists(absl::string_view file, absl::string_view function) const;
  // Why it cannot choose among places without such names; empty: it can.
  std::string Problem(bool have_files, bool have_functions) const;
  // "--file leaves no ": what it left out is all. REQUIRES: chooses_places().
  std::string LeavesNone() const;
  // Lists at most `limit` places (0: all) of a table that has all. The others
  // become one row if `folds`, or none. Fails
  // when the table has no such column, and says which it has.
  absl::Status Apply(uint64_t limit, bool folds, Table* table) const;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PLACES_TABLE_VIEW_H_
