#include "readers/relations/engine/sql_query.h"

#include <sqlite3.h>

#include <deque>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "readers/relations/engine/sql_tables.h"

namespace pymemrun {
namespace {

// Functions that load code, or that give and take addresses of code.
bool IsRefused(const char* function) {
  return absl::EqualsIgnoreCase(function, "load_extension") ||
         absl::EqualsIgnoreCase(function, "fts3_tokenizer");
}

// Lets a statement read, and nothing else: no file, no setting.
int Authorize(void*, int action, const char*, const char* name, const char*,
              const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return IsRefused(name) ? SQLITE_DENY : SQLITE_OK;
    default:
      return SQLITE_DENY;
  }
}

Cell CellOf(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
      return {};
    case SQLITE_INTEGER:
      return int64_t{sqlite3_column_int64(statement, column)};
    case SQLITE_FLOAT:
      return ExactNumber{sqlite3_column_double(statement, column)};
    default: {
      const void* bytes = sqlite3_column_blob(statement, column);
      const int size = sqlite3_column_bytes(statement, column);
      return bytes == nullptr
                 ? Cell(std::string())
                 : Cell(std::string(static_cast<const char*>(bytes), size));
    }
  }
}

// The names of the columns, each once: JSON has them as keys.
std::vector<Table::Heading> HeadingsOf(sqlite3_stmt* statement) {
  std::vector<Table::Heading> headings;
  absl::flat_hash_set<std::string> taken;
  for (int i = 0; i < sqlite3_column_count(statement); ++i) {
    const char* said = sqlite3_column_name(statement, i);
    const std::string name = said == nullptr ? "" : said;
    std::string unique = name;
    for (int n = 2; !taken.insert(unique).second; ++n) {
      unique = absl::StrCat(name, "_", n);
    }
    headings.push_back({unique, unique, CellLook::kPlain});
  }
  return headings;
}

}  // namespace

class SqlQuery::Database {
 public:
  ~Database() {
    sqlite3_finalize(statement_);
    sqlite3_close(db_);
  }

  absl::Status Open(const Relations& relations) {
    sqlite3_hard_heap_limit64(kMostSqlBytes);
    int code = sqlite3_open(":memory:", &db_);
    if (code != SQLITE_OK) return Failed(code);
    // Of all that is sorted or grouped little stays in memory.
    std::string begin = "PRAGMA temp_store=FILE;";
    for (const auto& relation : relations) {
      sources_.push_back({relation.get(), &failed_});
      code = sqlite3_create_module(db_, relation->name(), RelationModule(),
                                   &sources_.back());
      if (code != SQLITE_OK) return Failed(code);
      // Connects it, which the authorizer would take for a CREATE TABLE.
      absl::StrAppend(&begin, "SELECT 1 FROM ", relation->name(), " LIMIT 0;");
    }
    code = sqlite3_exec(db_, begin.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return Failed(code);
    sqlite3_set_authorizer(db_, Authorize, nullptr);
    return absl::OkStatus();
  }

  absl::Status Prepare(const std::string& sql) {
    if (sql.find('\0') != std::string::npos) {
      return absl::InvalidArgumentError("SQL: expected text, found a NUL byte");
    }
    const char* rest = nullptr;
    const int code =
        sqlite3_prepare_v2(db_, sql.c_str(), -1, &statement_, &rest);
    if (code != SQLITE_OK) return Failed(code);
    if (statement_ == nullptr) {
      return absl::InvalidArgumentError(
          "SQL: expected a SELECT, found nothing");
    }
    // What tells of a statement instead of running it is no answer.
    if (sqlite3_stmt_isexplain(statement_) != 0) return Failed(SQLITE_AUTH);
    if (absl::StripAsciiWhitespace(rest).empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "SQL: expected one statement, found more behind it");
  }

  absl::Status Failed(int code) const {
    if (!failed_.ok()) return failed_;
    if (code == SQLITE_AUTH) {
      return absl::InvalidArgumentError("SQL: only SELECT is possible here");
    }
    const std::string message = absl::StrCat("SQL: ", sqlite3_errmsg(db_));
    return code == SQLITE_ERROR ? absl::InvalidArgumentError(message)
                                : absl::InternalError(message);
  }

  sqlite3_stmt* statement() const { return statement_; }

 private:
  std::deque<SqlSource> sources_;  // stay where they are
  absl::Status failed_;            // of a relation
  sqlite3* db_ = nullptr;
  sqlite3_stmt* statement_ = nullptr;
};

SqlQuery::SqlQuery(std::unique_ptr<Database> database)
    : database_(std::move(database)),
      headings_(HeadingsOf(database_->statement())) {}

SqlQuery::~SqlQuery() = default;

absl::StatusOr<std::unique_ptr<SqlQuery>> SqlQuery::Begin(
    const std::string& sql, const Relations& relations) {
  auto database = std::make_unique<Database>();
  if (absl::Status status = database->Open(relations); !status.ok()) {
    return status;
  }
  if (absl::Status status = database->Prepare(sql); !status.ok()) return status;
  return std::unique_ptr<SqlQuery>(new SqlQuery(std::move(database)));
}

absl::StatusOr<bool> SqlQuery::Next(std::vector<Cell>* row) {
  const int code = sqlite3_step(database_->statement());
  if (code == SQLITE_DONE) return false;
  if (code != SQLITE_ROW) return database_->Failed(code);
  row->clear();
  for (size_t i = 0; i < headings_.size(); ++i) {
    row->push_back(CellOf(database_->statement(), static_cast<int>(i)));
  }
  return true;
}

absl::StatusOr<SqlAnswer> TakeRows(uint64_t most_rows, SqlQuery* query) {
  SqlAnswer answer;
  Table& table = answer.table;
  table.headings = query->headings();
  std::vector<Cell> row;
  for (;;) {
    const absl::StatusOr<bool> more = query->Next(&row);
    if (!more.ok()) return more.status();
    answer.has_more = *more && most_rows != 0 && table.rows.size() == most_rows;
    if (!*more || answer.has_more) break;
    // Text stands to the left.
    for (size_t i = 0; i < row.size(); ++i) {
      if (std::holds_alternative<std::string>(row[i])) {
        table.headings[i].look = CellLook::kName;
      }
    }
    table.rows.push_back(row);
  }
  table.places = table.rows.size();
  return answer;
}

absl::StatusOr<SqlAnswer> RunSql(const std::string& sql, uint64_t most_rows,
                                 const Relations& relations) {
  auto query = SqlQuery::Begin(sql, relations);
  if (!query.ok()) return query.status();
  return TakeRows(most_rows, query->get());
}

}  // namespace pymemrun
