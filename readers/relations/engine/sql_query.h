// Answers a SELECT of SQLite over relations.
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

// SQLite takes no more memory than this; sorting and grouping go on in
// temporary files.
inline constexpr int64_t kMostSqlBytes = 256 << 20;

// The rows of an answer, one after the other. Not thread safe.
class SqlQuery {
 public:
  // One statement that only reads. Fails with InvalidArgument where it is
  // wrong. The relations must outlive the query.
  static absl::StatusOr<std::unique_ptr<SqlQuery>> Begin(
      const std::string& sql, const Relations& relations);
  ~SqlQuery();
  SqlQuery(const SqlQuery&) = delete;
  SqlQuery& operator=(const SqlQuery&) = delete;

  // Names of the columns, each once. Their looks are known once rows are.
  const std::vector<Table::Heading>& headings() const { return headings_; }
  // False: there is no further row. Fails with InvalidArgument as above, or
  // with what went wrong; then neither is to be called again.
  absl::StatusOr<bool> Next(std::vector<Cell>* row);

 private:
  class Database;
  explicit SqlQuery(std::unique_ptr<Database> database);

  const std::unique_ptr<Database> database_;
  std::vector<Table::Heading> headings_;
};

struct SqlAnswer {
  Table table;
  bool has_more = false;  // rows than `most_rows`
};
// The rows that are left, or the first of them; 0: all. Fails as Next() does.
absl::StatusOr<SqlAnswer> TakeRows(uint64_t most_rows, SqlQuery* query);
// Begins a query and takes its rows. Fails as both do.
absl::StatusOr<SqlAnswer> RunSql(const std::string& sql, uint64_t most_rows,
                                 const Relations& relations);

// Relations as virtual tables of SQLite.

// A relation with a place for what fails while its rows are read. Both outlive
// the database.
struct SqlSource {
  Relation* relation;
  absl::Status* failed;
};

// Its xConnect takes a SqlSource. The table has the relation's name.
const sqlite3_module* RelationModule();

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RELATIONS_ENGINE_SQL_QUERY_H_
