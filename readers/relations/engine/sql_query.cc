#include "readers/relations/engine/sql_query.h"

#include <sqlite3.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace pymemrun {
namespace {

// Functions that load code, or that give and take addresses of code.
bool IsRefused(const char* function) {
  return absl::EqualsIgnoreCase(function, "load_extension") ||
         absl::EqualsIgnoreCase(function, "fts3_tokenizer");
}

// Lets a statement read, and nothing else: no file, no setting. Whatever is not
// known to be harmless is denied.
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

// A database in memory whose only tables are relations, as virtual tables: see
// sqlite.org/vtab.html. The authorizer is set last, as it would refuse what
// Open() does.
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
    // Sorting and grouping keep little in memory.
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

  // SQLite would ignore what follows a NUL byte or the first statement: both
  // are refused, so that no part of the text is silently left out.
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
    // EXPLAIN describes a statement instead of running it.
    if (sqlite3_stmt_isexplain(statement_) != 0) return Failed(SQLITE_AUTH);
    if (absl::StripAsciiWhitespace(rest).empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "SQL: expected one statement, found more after it");
  }

  // The error of a relation says more than SQLite's own, which is only that
  // reading failed.
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
    // Text is left-aligned.
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

namespace {

// SQLite's view of a table, and of a walk over its rows. It knows of the first
// member, and makes and deletes them by the functions below.
struct TableHandle : sqlite3_vtab {
  const SqlSource* source = nullptr;
};
struct Cursor : sqlite3_vtab_cursor {
  std::unique_ptr<RowCursor> rows;
  sqlite3_int64 row = 0;
  bool at_end = true;
};

const SqlSource& SourceOf(sqlite3_vtab* handle) {
  return *static_cast<TableHandle*>(handle)->source;
}
Cursor* CursorOf(sqlite3_vtab_cursor* cursor) {
  return static_cast<Cursor*>(cursor);
}

// Only names and types are taken from it, not the table's name.
std::string Definition(const Relation& relation) {
  std::string columns;
  for (const RelationColumn& column : relation.columns()) {
    absl::StrAppend(&columns, columns.empty() ? "" : ", ", column.name, " ",
                    KindName(column.type.kind));
  }
  return absl::StrCat("CREATE TABLE x(", columns, ")");
}

// The callbacks of a virtual table return SQLite's codes. No exception may
// cross them.
int Connect(sqlite3* db, void* source, int, const char* const*,
            sqlite3_vtab** made, char**) {
  const auto* const sql_source = static_cast<const SqlSource*>(source);
  const int code =
      sqlite3_declare_vtab(db, Definition(*sql_source->relation).c_str());
  if (code != SQLITE_OK) return code;
  auto handle = std::make_unique<TableHandle>();
  handle->source = sql_source;
  *made = handle.release();
  return SQLITE_OK;
}

int Disconnect(sqlite3_vtab* handle) {
  delete static_cast<TableHandle*>(handle);
  return SQLITE_OK;
}

// Looks a value up where the relation can, by the column with the fewest rows
// for each value. idxNum: 1 and the column, or 0 to read all.
int BestIndex(sqlite3_vtab* handle, sqlite3_index_info* info) {
  Relation* const relation = SourceOf(handle).relation;
  uint64_t rows = relation->expected_rows() + 1;
  info->idxNum = 0;
  int best = -1;
  for (int i = 0; i < info->nConstraint; ++i) {
    const auto& constraint = info->aConstraint[i];
    if (constraint.usable == 0 || constraint.iColumn < 0 ||
        constraint.op != SQLITE_INDEX_CONSTRAINT_EQ) {
      continue;
    }
    const uint64_t of_one = relation->RowsOfOne(constraint.iColumn);
    if (of_one == 0 || (best >= 0 && of_one >= rows)) continue;
    best = i;
    rows = of_one;
    info->idxNum = 1 + constraint.iColumn;
  }
  // SQLite compares again what is found: Find() may give more.
  if (best >= 0) info->aConstraintUsage[best].argvIndex = 1;
  info->estimatedCost = static_cast<double>(rows);
  info->estimatedRows = static_cast<sqlite3_int64>(rows);
  return SQLITE_OK;
}

int Open(sqlite3_vtab*, sqlite3_vtab_cursor** made) {
  *made = std::make_unique<Cursor>().release();
  return SQLITE_OK;
}

int Close(sqlite3_vtab_cursor* cursor) {
  delete CursorOf(cursor);
  return SQLITE_OK;
}

int Next(sqlite3_vtab_cursor* at) {
  Cursor* const cursor = CursorOf(at);
  absl::StatusOr<bool> more = cursor->rows->Next();
  ++cursor->row;
  cursor->at_end = !more.ok() || !*more;
  if (more.ok()) return SQLITE_OK;
  *SourceOf(cursor->pVtab).failed = more.status();
  return SQLITE_IOERR;
}

// Starts a walk over rows, and goes to the first one. `index` is what
// BestIndex() chose; nothing equals NULL.
int Filter(sqlite3_vtab_cursor* at, int index, const char*, int,
           sqlite3_value** values) {
  Cursor* const cursor = CursorOf(at);
  Relation* const relation = SourceOf(cursor->pVtab).relation;
  cursor->row = 0;
  cursor->at_end = true;
  if (index == 0) {
    cursor->rows = relation->Rows();
    return Next(at);
  }
  if (sqlite3_value_type(values[0]) == SQLITE_NULL) return SQLITE_OK;
  const sqlite3_int64 number = sqlite3_value_int64(values[0]);
  const auto* text =
      reinterpret_cast<const char*>(sqlite3_value_text(values[0]));
  if (text == nullptr) return SQLITE_NOMEM;
  const auto size = static_cast<size_t>(sqlite3_value_bytes(values[0]));
  cursor->rows = relation->Find(index - 1, number, {text, size});
  return Next(at);
}

int IsAtEnd(sqlite3_vtab_cursor* at) { return CursorOf(at)->at_end; }

// SQLite copies the text at once: the cursor's next cell may replace it.
int ReadColumn(sqlite3_vtab_cursor* at, sqlite3_context* context, int column) {
  const RelationValue value = CursorOf(at)->rows->At(column);
  if (const auto* text = std::get_if<absl::string_view>(&value)) {
    sqlite3_result_text64(context, text->data() == nullptr ? "" : text->data(),
                          text->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  } else if (const auto* number = std::get_if<int64_t>(&value)) {
    sqlite3_result_int64(context, *number);
  } else if (const auto* real = std::get_if<double>(&value)) {
    sqlite3_result_double(context, *real);
  } else {
    sqlite3_result_null(context);
  }
  return SQLITE_OK;
}

int RowId(sqlite3_vtab_cursor* at, sqlite3_int64* row) {
  *row = CursorOf(at)->row;
  return SQLITE_OK;
}

}  // namespace

const sqlite3_module* RelationModule() {
  static const sqlite3_module module = [] {
    sqlite3_module made = {};
    made.xConnect = Connect;  // no xCreate: the tables are there by their names
    made.xDisconnect = Disconnect;
    made.xBestIndex = BestIndex;
    made.xOpen = Open;
    made.xClose = Close;
    made.xFilter = Filter;
    made.xNext = Next;
    made.xEof = IsAtEnd;
    made.xColumn = ReadColumn;
    made.xRowid = RowId;
    return made;
  }();
  return &module;
}

}  // namespace pymemrun
