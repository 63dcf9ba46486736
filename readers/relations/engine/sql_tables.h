// Relations as virtual tables of SQLite.
#ifndef PYMEMRUN_READERS_RELATIONS_ENGINE_SQL_TABLES_H_
#define PYMEMRUN_READERS_RELATIONS_ENGINE_SQL_TABLES_H_

#include <sqlite3.h>

#include "absl/status/status.h"
#include "readers/relations/engine/relation.h"

namespace pymemrun {

// A relation with a place for what fails while its rows are read. Both outlive
// the database.
struct SqlSource {
  Relation* relation;
  absl::Status* failed;
};

// Its xConnect takes a SqlSource. The table has the relation's name.
const sqlite3_module* RelationModule();

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RELATIONS_ENGINE_SQL_TABLES_H_
