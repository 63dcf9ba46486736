// Answers a SELECT of SQLite over the tables of an object graph.
#ifndef PYMEMRUN_READERS_OBJECTS_QUERY_SQL_QUERY_H_
#define PYMEMRUN_READERS_OBJECTS_QUERY_SQL_QUERY_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "readers/objects_findings/analysis.h"
#include "readers/output/table.h"

namespace pymemrun {

// SQLite takes no more memory than this; sorting and grouping go on in
// temporary files.
inline constexpr int64_t kMostSqlBytes = 256 << 20;

struct SqlAnswer {
  Table table;
  bool has_more = false;  // rows than `most_rows`
};

// One statement that only reads. At most `most_rows` rows, 0: all. Fails with
// InvalidArgument where the statement is wrong, or with what went wrong later.
absl::StatusOr<SqlAnswer> RunSql(const std::string& sql, uint64_t most_rows,
                                 ObjectAnalysis* analysis);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_QUERY_SQL_QUERY_H_
