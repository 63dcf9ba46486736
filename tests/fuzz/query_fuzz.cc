// Asks arbitrary bytes as a SELECT: no crash, bounded memory, and no file is
// opened but SQLite's own temporary ones.
#include <sqlite3.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "readers/relations/engine/relation_columns.h"
#include "readers/relations/engine/sql_query.h"

namespace pymemrun {
namespace {

constexpr uint64_t kRows = 50, kMostRows = 1000;
constexpr int kStepsAtATime = 1000, kMostTimes = 1000;

// Rows with every kind of cell, some of them odd.
struct OddRow {
  uint64_t number;
  std::string* made;
};
constexpr ColumnOf<OddRow> kOddColumns[] = {
    {"id", kInteger, "its number",
     [](const OddRow& row) { return IntegerOf(row.number); }},
    {"name", kText, "bytes, or nothing",
     [](const OddRow& row) {
       *row.made = std::string(row.number % 7, static_cast<char>(row.number));
       return row.number % 3 == 0 ? RelationValue()
                                  : RelationValue(absl::string_view(*row.made));
     }},
    {"size", kBytes, "large ones, too",
     [](const OddRow& row) { return IntegerOf(~uint64_t{0} << row.number); }},
    {"clock_s", kSeconds, "a time",
     [](const OddRow& row) { return SecondsOf(row.number * row.number); }}};

class OddRows final : public NumberedRelation<OddRow> {
 public:
  explicit OddRows(const char* name)
      : NumberedRelation({name, "an odd row", kOddColumns}) {}
  uint64_t RowsOfOne(int column) const override { return column == 0; }
  std::unique_ptr<RowCursor> Find(int, int64_t number,
                                  absl::string_view) override {
    return OneRow(number);
  }

 private:
  absl::StatusOr<uint64_t> End() override { return kRows; }
  OddRow RowAt(uint64_t number, std::string* made) override {
    return {number, made};
  }
};

// Ends statements that would run for ever.
int EndsNow(void* left) { return --*static_cast<int*>(left) < 0; }

int left = 0;
int LimitSteps(sqlite3* db, char**, const sqlite3_api_routines*) {
  sqlite3_progress_handler(db, kStepsAtATime, EndsNow, &left);
  return SQLITE_OK;
}

int OpenTemporary(sqlite3_vfs* guard, const char* name, sqlite3_file* file,
                  int flags, int* out_flags) {
  constexpr int kTemporary = SQLITE_OPEN_DELETEONCLOSE;
  if (name != nullptr && (flags & kTemporary) == 0) {
    fprintf(stderr, "a statement opens %s\n", name);
    abort();
  }
  auto* const usual = static_cast<sqlite3_vfs*>(guard->pAppData);
  return usual->xOpen(usual, name, file, flags, out_flags);
}

void* LoadNothing(sqlite3_vfs*, const char* name) {
  fprintf(stderr, "a statement loads %s\n", name);
  abort();
}

// What every statement is to keep to.
void GuardFiles() {
  static sqlite3_vfs guard = *sqlite3_vfs_find(nullptr);
  guard.zName = "guard";
  guard.pAppData = sqlite3_vfs_find(nullptr);
  guard.xOpen = OpenTemporary;
  guard.xDlOpen = LoadNothing;
  if (sqlite3_vfs_register(&guard, /*makeDflt=*/1) != SQLITE_OK) abort();
  sqlite3_auto_extension(reinterpret_cast<void (*)()>(LimitSteps));
}

void Ask(const std::string& sql) {
  left = kMostTimes;
  Relations relations;
  relations.push_back(std::make_unique<OddRows>("events"));
  relations.push_back(std::make_unique<OddRows>("places"));
  Relations others;
  others.push_back(std::make_unique<OddRows>("events"));
  others.push_back(std::make_unique<OddRows>("places"));
  std::vector<std::pair<std::string, Relations>> runs;
  runs.emplace_back("a.pb", std::move(relations));
  runs.emplace_back("b.pb", std::move(others));
  RunSql(sql, kMostRows, JoinRuns(std::move(runs))).IgnoreError();
}

}  // namespace
}  // namespace pymemrun

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool guarded = (pymemrun::GuardFiles(), true);
  (void)guarded;
  pymemrun::Ask(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}

#ifndef PYMEMRUN_FUZZER
#include "tests/fuzz/replay_main.h"
#endif
