// Prints what a SELECT gives.
#ifndef PYMEMRUN_READERS_REPORT_SQL_ANSWER_H_
#define PYMEMRUN_READERS_REPORT_SQL_ANSWER_H_

#include <string>

#include "readers/output/output_buffer.h"
#include "readers/relations/engine/relation.h"
#include "readers/report/option_groups.h"
#include "readers/run/console.h"

namespace pymemrun {

// As text at most table.limit() rows; for machines all, unless a limit was
// given, a part at a time. Returns the exit code.
int PrintSqlAnswer(const std::string& sql, const Relations& relations,
                   const TableOptions& table, const Console& console,
                   OutputBuffer* output);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPORT_SQL_ANSWER_H_
