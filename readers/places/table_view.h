// Which places of a table are listed, and in what order: --sort, --file,
// --exclude. Used by the commands that list places.
#ifndef PYMEMRUN_READERS_PLACES_TABLE_VIEW_H_
#define PYMEMRUN_READERS_PLACES_TABLE_VIEW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "readers/output/table.h"

namespace pymemrun {

struct TableView {
  std::string sort;  // a column, as CSV or text names it; empty: as it is
  // Shell patterns of files, or of their last parts. Empty: all.
  std::vector<std::string> files;
  std::vector<std::string> excluded;

  bool any() const { return !sort.empty() || chooses_files(); }
  bool chooses_files() const { return !files.empty() || !excluded.empty(); }
  bool Lists(absl::string_view file) const;
  // Lists at most `limit` places (0: all) of a table that has all; sizes go
  // down and names up. The others become one row if `folds`, or none. Fails
  // when the table has no such column, and says which it has.
  absl::Status Apply(uint64_t limit, bool folds, Table* table) const;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PLACES_TABLE_VIEW_H_
