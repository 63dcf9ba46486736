// The columns of printed rows: their names and their usual order. Used by the
// row writers and the command line.
#ifndef PYMEMRUN_READERS_REPLAY_ROWS_ROW_COLUMNS_H_
#define PYMEMRUN_READERS_REPLAY_ROWS_ROW_COLUMNS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace pymemrun {

// The columns of all formats. Their order groups the kinds of rows below.
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
  kUnixTime,
  // Only page events have these.
  kPageAddress,
  kAction,
  kPages,
  kMovedTo,
  kInferred,
  kInstructionModule,
  // Only heap events have these.
  kAddress,
  kSize,
  kAllocator,
  kWeight,  // page events have it, too
  kCallerModule,
  // A RETURN has these if its CALL is known.
  kCallEvent,
  kCallTime,
  kCallDrss,
  kCallThreadDrss,
  // Only events of the GIL have these, besides the action.
  kGil,
  kGilFree,
  kGilPauses,
  kGilPaused,
  kGilBy,
  kThreadDrss,  // only rows have it
};
inline constexpr int kColumns = 37;
inline constexpr Column kFirstPageColumn = Column::kPageAddress;
inline constexpr Column kFirstHeapColumn = Column::kAddress;
inline constexpr Column kFirstCallColumn = Column::kCallEvent;
inline constexpr Column kFirstGilColumn = Column::kGil;

// What is printed besides rows and marks, with columns of its own. `calls`:
// rows of RETURN have more columns than other rows.
struct ExtraRecords {
  bool pages = false;
  bool heap = false;
  bool calls = false;
  bool gil = false;

  bool any() const { return pages || heap || gil; }
};

// As in CSV's header row and JSON's keys: "event", "clock_s", ...
absl::string_view ColumnName(Column column);

// Parses "event,file,line": names separated by commas, each at most once. Fails
// for an unknown name; the message lists the known ones.
absl::StatusOr<std::vector<Column>> ParseColumns(absl::string_view list);

// The columns of CSV and JSON lines: all except the stack and Unix time, then
// those of extra records that are printed, then the thread's dRSS.
std::vector<Column> MachineColumns(ExtraRecords extra);
// The columns of text, optionally with the NEXT:/PREV: prefix, the pid, and
// those of extra records.
std::vector<Column> TextColumns(bool with_context, bool with_pid,
                                ExtraRecords extra);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_ROWS_ROW_COLUMNS_H_
