#include "readers/report/sql_answer.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/output/table_columns.h"
#include "readers/output/text_table.h"
#include "readers/relations/engine/sql_query.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Rows that are held at a time, however many there are.
constexpr uint64_t kPartRows = 4096;

// The SELECT says which columns there are, and their order.
absl::Status PrintText(const TableOptions& table, SqlQuery* query,
                       OutputBuffer* output) {
  const auto answer = TakeRows(table.limit(), query);
  if (!answer.ok()) return answer.status();
  output->AppendLines(
      answer->has_more
          ? absl::StrCat("The first ", table.limit(),
                         " rows; --limit 0 lists all.\n")
          : absl::StrCat(Counted(answer->table.rows.size(), "row"), ".\n"));
  if (answer->table.rows.empty()) return absl::OkStatus();
  output->AppendLines("\n");
  PrintTextTableInOrder(answer->table, output);
  return absl::OkStatus();
}

// For machines: prints parts while the query runs. Asks for one row beyond the
// limit, to know whether there are more.
absl::Status PrintRows(const TableOptions& table, SqlQuery* query,
                       const Console& console, OutputBuffer* output) {
  const uint64_t most = table.limit();
  TableParts parts(table.format(), output);
  Table part;
  part.headings = query->headings();
  std::vector<Cell> row;
  uint64_t printed = 0;
  for (;;) {
    const absl::StatusOr<bool> more = query->Next(&row);
    if (!more.ok()) return more.status();
    const bool is_over = *more && most != 0 && printed == most;
    if (is_over) {
      console.Say(absl::StrCat("only the first ", most,
                               " rows are printed; --limit 0 prints all"));
    }
    if (!*more || is_over) break;
    ++printed;
    part.rows.push_back(std::move(row));
    if (part.rows.size() < kPartRows) continue;
    parts.Print(part);
    part.rows.clear();
    // The reader of the output has gone: the rest need not be computed.
    if (!output->ok()) return absl::OkStatus();
  }
  if (!part.rows.empty() || printed == 0) parts.Print(part);
  parts.Finish();
  return absl::OkStatus();
}

}  // namespace

// A wrong SELECT is a wrong use; a file that fails during the answer is not.
int PrintSqlAnswer(const std::string& sql, const Relations& relations,
                   const TableOptions& table, const Console& console,
                   OutputBuffer* output) {
  auto query = SqlQuery::Begin(sql, relations);
  const absl::Status status =
      !query.ok()       ? query.status()
      : table.as_text() ? PrintText(table, query->get(), output)
                        : PrintRows(table, query->get(), console, output);
  if (status.ok()) return kExitOk;
  console.Say(TerminalText(status.message()));
  return absl::IsInvalidArgument(status) ? kExitUsage : kExitFailed;
}

}  // namespace pymemrun
