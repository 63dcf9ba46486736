// pymemcat's command line.
#ifndef PYMEMRUN_READERS_CAT_CAT_OPTIONS_H_
#define PYMEMRUN_READERS_CAT_CAT_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "readers/cat/row_filter.h"
#include "readers/options/command_line.h"
#include "readers/replay/moments/moment.h"
#include "readers/replay/rows/row_columns.h"

namespace pymemrun {

// The parsed options of pymemcat. Times and filters are in `filter`.
struct CatOptions {
  enum class Format { kText, kCsv, kJsonl, kRaw, kSummary };
  // Each file of a merge takes a thread.
  static constexpr size_t kMaxFiles = 256;

  std::vector<std::string> files;
  Format format = Format::kText;
  FilterOptions filter;
  std::optional<Moment> from, to;  // moments; plain times are in the filter
  std::vector<Column> columns;     // empty: the format's own
  bool with_header = true;
  bool raw_text = false;
  bool follow = false;
  bool net = false;

  // Whether each file must be read for these moments first.
  bool SeekMoments() const {
    return (from.has_value() && from->kind != Moment::kTime) ||
           (to.has_value() && to->kind != Moment::kTime);
  }
  // Whether rows are printed with this column.
  bool HasColumn(Column column) const;
};

// Fills *options. Returns an exit code if the program must end, see
// ParseArguments().
std::optional<int> ParseCatOptions(const std::vector<std::string>& arguments,
                                   const Console& console, CatOptions* options);

// Parses "call,c_return,mark", in any case, into FilterOptions::kinds.
absl::StatusOr<uint32_t> ParseKinds(absl::string_view list);

// Parses "calls,marks,heap" into options->calls, marks and extra.
absl::Status ParseRecords(absl::string_view list, FilterOptions* options);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_CAT_CAT_OPTIONS_H_
