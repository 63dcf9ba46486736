#include "readers/objects_query/sql_query.h"

#include <sqlite3.h>

#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "readers/objects_query/sql_tables.h"

namespace pymemrun {
namespace {

// SQLite's view of a table, and of a walk over its rows. It knows of the first
// member, and makes and deletes them by the functions below.
struct TableHandle : sqlite3_vtab {
  SqlTable* table = nullptr;
};
struct Cursor : sqlite3_vtab_cursor {
  SqlRows rows;
  uint64_t position = 0;
};

SqlTable* TableOf(sqlite3_vtab* handle) {
  return static_cast<TableHandle*>(handle)->table;
}
Cursor* CursorOf(sqlite3_vtab_cursor* cursor) {
  return static_cast<Cursor*>(cursor);
}

int Connect(sqlite3* db, void* table, int, const char* const*,
            sqlite3_vtab** made, char**) {
  auto* const sql_table = static_cast<SqlTable*>(table);
  const int code = sqlite3_declare_vtab(
      db, absl::StrCat("CREATE TABLE x(", sql_table->columns(), ")").c_str());
  if (code != SQLITE_OK) return code;
  auto handle = std::make_unique<TableHandle>();
  handle->table = sql_table;
  *made = handle.release();
  return SQLITE_OK;
}

int Disconnect(sqlite3_vtab* handle) {
  delete static_cast<TableHandle*>(handle);
  return SQLITE_OK;
}

// Looks a value up where the table can, by the column with the fewest rows for
// each value. idxNum: 1 and the column, or 0 to read all.
int BestIndex(sqlite3_vtab* handle, sqlite3_index_info* info) {
  SqlTable* const table = TableOf(handle);
  uint64_t rows = table->rows() + 1;
  info->idxNum = 0;
  int best = -1;
  for (int i = 0; i < info->nConstraint; ++i) {
    const auto& constraint = info->aConstraint[i];
    if (constraint.usable == 0 || constraint.iColumn < 0 ||
        constraint.op != SQLITE_INDEX_CONSTRAINT_EQ) {
      continue;
    }
    const uint64_t of_one = table->RowsOfOne(constraint.iColumn);
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

int Filter(sqlite3_vtab_cursor* at, int index, const char*, int,
           sqlite3_value** values) {
  Cursor* const cursor = CursorOf(at);
  SqlTable* const table = TableOf(cursor->pVtab);
  if (index == 0) {
    cursor->rows = {0, table->rows()};
  } else if (sqlite3_value_type(values[0]) == SQLITE_NULL) {
    cursor->rows = {};
  } else {
    const sqlite3_int64 number = sqlite3_value_int64(values[0]);
    const auto* text =
        reinterpret_cast<const char*>(sqlite3_value_text(values[0]));
    if (text == nullptr) return SQLITE_NOMEM;
    cursor->rows = table->Find(
        index - 1, number,
        {text, static_cast<size_t>(sqlite3_value_bytes(values[0]))});
  }
  cursor->position = cursor->rows.begin;
  return SQLITE_OK;
}

int Next(sqlite3_vtab_cursor* cursor) {
  ++CursorOf(cursor)->position;
  return SQLITE_OK;
}

int IsAtEnd(sqlite3_vtab_cursor* at) {
  const Cursor* const cursor = CursorOf(at);
  return cursor->position >= cursor->rows.end;
}

uint64_t RowOf(sqlite3_vtab_cursor* at) {
  const Cursor* const cursor = CursorOf(at);
  return cursor->rows.At(cursor->position);
}

int Column(sqlite3_vtab_cursor* at, sqlite3_context* context, int column) {
  const Cell cell = TableOf(at->pVtab)->At(RowOf(at), column);
  if (const auto* text = std::get_if<std::string>(&cell)) {
    sqlite3_result_text64(context, text->data(), text->size(), SQLITE_TRANSIENT,
                          SQLITE_UTF8);
  } else if (const auto* number = std::get_if<uint64_t>(&cell)) {
    sqlite3_result_int64(context, static_cast<sqlite3_int64>(*number));
  } else {
    sqlite3_result_null(context);
  }
  return SQLITE_OK;
}

int RowId(sqlite3_vtab_cursor* at, sqlite3_int64* row) {
  *row = static_cast<sqlite3_int64>(RowOf(at));
  return SQLITE_OK;
}

const sqlite3_module* Module() {
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
    made.xColumn = Column;
    made.xRowid = RowId;
    return made;
  }();
  return &module;
}

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

using Database = std::unique_ptr<sqlite3, decltype(&sqlite3_close)>;
using Statement = std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)>;

absl::Status Failed(sqlite3* db, int code) {
  if (code == SQLITE_AUTH) {
    return absl::InvalidArgumentError("SQL: only SELECT is possible here");
  }
  const std::string message = absl::StrCat("SQL: ", sqlite3_errmsg(db));
  return code == SQLITE_ERROR ? absl::InvalidArgumentError(message)
                              : absl::InternalError(message);
}

absl::StatusOr<Database> OpenDatabase(
    const std::vector<std::unique_ptr<SqlTable>>& tables) {
  sqlite3_hard_heap_limit64(kMostSqlBytes);
  sqlite3* opened = nullptr;
  const int code = sqlite3_open(":memory:", &opened);
  Database db(opened, &sqlite3_close);
  if (code != SQLITE_OK) return Failed(opened, code);
  // Of all that is sorted or grouped little stays in memory.
  std::string begin = "PRAGMA temp_store=FILE;";
  for (const auto& table : tables) {
    const int made =
        sqlite3_create_module(opened, table->name(), Module(), table.get());
    if (made != SQLITE_OK) return Failed(opened, made);
    // Connects it, which the authorizer would take for a CREATE TABLE.
    absl::StrAppend(&begin, "SELECT 1 FROM ", table->name(), " LIMIT 0;");
  }
  const int begun =
      sqlite3_exec(opened, begin.c_str(), nullptr, nullptr, nullptr);
  if (begun != SQLITE_OK) return Failed(opened, begun);
  sqlite3_set_authorizer(opened, Authorize, nullptr);
  return db;
}

absl::StatusOr<Statement> Prepare(const std::string& sql, sqlite3* db) {
  sqlite3_stmt* prepared = nullptr;
  const char* rest = nullptr;
  const int code = sqlite3_prepare_v2(db, sql.c_str(), -1, &prepared, &rest);
  Statement statement(prepared, &sqlite3_finalize);
  if (code != SQLITE_OK) return Failed(db, code);
  if (prepared == nullptr) {
    return absl::InvalidArgumentError("SQL: expected a SELECT, found nothing");
  }
  if (!absl::StripAsciiWhitespace(rest).empty()) {
    return absl::InvalidArgumentError(
        "SQL: expected one statement, found more behind it");
  }
  return statement;
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

absl::StatusOr<SqlAnswer> RunSql(const std::string& sql, uint64_t most_rows,
                                 ObjectAnalysis* analysis) {
  const auto tables = SqlTables(analysis);
  auto db = OpenDatabase(tables);
  if (!db.ok()) return db.status();
  auto statement = Prepare(sql, db->get());
  if (!statement.ok()) return statement.status();
  SqlAnswer answer;
  Table& table = answer.table;
  table.headings = HeadingsOf(statement->get());
  const int columns = static_cast<int>(table.headings.size());
  int code;
  while ((code = sqlite3_step(statement->get())) == SQLITE_ROW) {
    answer.has_more = most_rows != 0 && table.rows.size() == most_rows;
    if (answer.has_more) break;
    std::vector<Cell>& row = table.rows.emplace_back();
    for (int i = 0; i < columns; ++i) {
      row.push_back(CellOf(statement->get(), i));
      // Text stands to the left.
      if (std::holds_alternative<std::string>(row.back())) {
        table.headings[i].look = CellLook::kName;
      }
    }
  }
  if (code != SQLITE_ROW && code != SQLITE_DONE) return Failed(db->get(), code);
  table.places = table.rows.size();
  return answer;
}

}  // namespace pymemrun
