// The columns of printed rows: their names and their usual order. Used by the
// row writers and the command line.
#ifndef PYMEMRUN_READERS_REPLAY_ROWS_ROW_COLUMNS_H_
#define PYMEMRUN_READERS_REPLAY_ROWS_ROW_COLUMNS_H_

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
  kUnixTime,
  // Of page events alone.
  kPageAddress,
  kAction,
  kPages,
  kMovedTo,
  kInferred,
  kInstructionModule,
  // Of heap events alone.
  kAddress,
  kSize,
  kAllocator,
  kWeight,  // of page events too
  kCallerModule,
  // Of a RETURN whose CALL is known.
  kCallEvent,
  kCallTime,
  kCallDrss,
  kCallThreadDrss,
  // Of events of the GIL alone, besides the action.
  kGil,
  kGilFree,
  kGilPauses,
  kGilPaused,
  kGilBy,
  kThreadDrss,  // of rows alone
};
inline constexpr int kColumns = 37;
inline constexpr Column kFirstPageColumn = Column::kPageAddress;
inline constexpr Column kFirstHeapColumn = Column::kAddress;
inline constexpr Column kFirstCallColumn = Column::kCallEvent;
inline constexpr Column kFirstGilColumn = Column::kGil;

// What is printed besides rows and marks, and has columns of its own; and
// whether rows of RETURN have more columns than other rows.
struct ExtraRecords {
  bool pages = false;
  bool heap = false;
  bool calls = false;
  bool gil = false;

  bool any() const { return pages || heap || gil; }
};

// As in CSV's header row and JSON's keys: "event", "clock_s", ...
absl::string_view ColumnName(Column column);

// "event,file,line": names separated by commas, each at most once. Fails with a
// message that names the first that is unknown and lists those that are.
absl::StatusOr<std::vector<Column>> ParseColumns(absl::string_view list);

// Those of CSV and JSON lines, in their order: all but the stack and Unix time,
// those of extra records if they are printed, then the thread's dRSS.
std::vector<Column> MachineColumns(ExtraRecords extra);
// Those of text: with the NEXT:/PREV: prefix or without, with the pid or not,
// with those of extra records.
std::vector<Column> TextColumns(bool with_context, bool with_pid,
                                ExtraRecords extra);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_ROWS_ROW_COLUMNS_H_
