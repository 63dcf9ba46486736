// The columns of printed rows: their names and their usual order. Used by the
// row writers and the command line.
#ifndef PYMEMRUN_READERS_COLUMNS_H_
#define PYMEMRUN_READERS_COLUMNS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace pymemrun {

enum class Column : uint8_t {
  kEvent,
  kDevent,
  kClock,
  kWhat,
  kFile,
  kLine,
  kFunction,
  kRss,
  kDrss,
  kThread,
  kPid,
  kContext,
  kModule,
  kExact,
  kStack,
  // Of page events alone.
  kPageAddress,
  kAction,
  kPages,
  kMovedTo,
  kInferred,
  kInstructionModule,
};
inline constexpr int kColumns = 21;
inline constexpr Column kFirstPageColumn = Column::kPageAddress;

// As in CSV's header row and JSON's keys: "event", "clock_s", ...
absl::string_view ColumnName(Column column);

// "event,file,line": names separated by commas, each at most once. Fails with a
// message that names the first that is unknown and lists those that are.
absl::StatusOr<std::vector<Column>> ParseColumns(absl::string_view list);

// Those of CSV and JSON lines, in their order: all but the stack, those of page
// events if they are printed.
std::vector<Column> MachineColumns(bool with_pages);
// Those of text: with the NEXT:/PREV: prefix or without, with the pid or not,
// with those of page events or not.
std::vector<Column> TextColumns(bool with_context, bool with_pid,
                                bool with_pages);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_COLUMNS_H_
