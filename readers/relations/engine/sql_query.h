// Runs a SELECT of SQLite over relations.
#ifndef PYMEMRUN_READERS_RELATIONS_ENGINE_SQL_QUERY_H_
#define PYMEMRUN_READERS_RELATIONS_ENGINE_SQL_QUERY_H_

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "readers/output/table.h"
#include "readers/relations/engine/relation.h"

namespace pymemrun {

// The most memory that SQLite may use; larger sorts and groups use temporary
// files.
inline constexpr int64_t kMostSqlBytes = 256 << 20;

// The rows of a result, one by one. Not thread safe.
class SqlQuery {
 public:
  // Prepares one statement, which may only read. Fails with InvalidArgument if
  // it is wrong. The relations must outlive the query.
  static absl::StatusOr<std::unique_ptr<SqlQuery>> Begin(
      const std::string& sql, const Relations& relations);
  ~SqlQuery();
  SqlQuery(const SqlQuery&) = delete;
  SqlQuery& operator=(const SqlQuery&) = delete;

  // The columns, with distinct names. Their formats are known after the rows.
  const std::vector<Table::Heading>& headings() const { return headings_; }
  // Returns false after the last row. Fails with InvalidArgument as above, or
  // with the error of reading. After either, it must not be called again.
  absl::StatusOr<bool> Next(std::vector<Cell>* row);

 private:
  class Database;
  explicit SqlQuery(std::unique_ptr<Database> database);

  const std::unique_ptr<Database> database_;
  std::vector<Table::Heading> headings_;
};

struct SqlAnswer {
  Table table;
  bool has_more = false;  // more rows than `most_rows`
};
// The remaining rows, at most `most_rows` (0: all). Fails as Next() does.
absl::StatusOr<SqlAnswer> TakeRows(uint64_t most_rows, SqlQuery* query);
// Prepares a query and takes its rows. Fails as these do.
absl::StatusOr<SqlAnswer> RunSql(const std::string& sql, uint64_t most_rows,
                                 const Relations& relations);

// A relation as a virtual table of SQLite, and a place for errors while its
// rows are read. Both must outlive the database.
struct SqlSource {
  Relation* relation;
  absl::Status* failed;
};

// Its xConnect takes a SqlSource. The table has the name of the relation.
const sqlite3_module* RelationModule();

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RELATIONS_ENGINE_SQL_QUERY_H_
