#include "readers/relations/engine/sql_tables.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace pymemrun {
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

std::string Definition(const Relation& relation) {
  std::string columns;
  for (const RelationColumn& column : relation.columns()) {
    absl::StrAppend(&columns, columns.empty() ? "" : ", ", column.name, " ",
                    KindName(column.type.kind));
  }
  return absl::StrCat("CREATE TABLE x(", columns, ")");
}

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

int Column(sqlite3_vtab_cursor* at, sqlite3_context* context, int column) {
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
    made.xColumn = Column;
    made.xRowid = RowId;
    return made;
  }();
  return &module;
}

}  // namespace pymemrun
