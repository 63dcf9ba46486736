// SQL over run files, by the command.
#include "readers/relations/run/run_relations.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "format/batches/encode_batch_for_tests.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/testing/gil_run_for_tests.h"
#include "readers/testing/heap_run_for_tests.h"
#include "readers/testing/page_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"

namespace pymemrun {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// Line 4 of job.py calls load(), which allocates at line 9.
std::string ExampleRun(bool calls = true) {
  StringSink sink;
  RunBuilder builder(&sink);
  Header header = RunBuilder::DefaultHeader();
  header.set_cwd("/src");
  header.set_script("job.py");
  header.set_heap(HEAP_ALL);
  header.set_page_period(1);
  header.set_calls_off(!calls);
  builder.AddHeader(header);
  builder.AddThread("MainThread", 4711);
  builder.AddThread("worker", 4712);
  builder.AddMapping("/usr/lib/libx.so");
  const uint32_t module = builder.AddCode("/src/job.py", "<module>", 1);
  const uint32_t load = builder.AddCode("/src/job.py", "load", 8);
  const uint32_t four = builder.AddStack(0, module, 4);
  const uint32_t nine = builder.AddStack(four, load, 9);
  if (calls) {
    Row call = MakeRow(1, 1000000, builder.AddSite(CALL, load, 8), 8192, 4096);
    Row returned =
        MakeRow(2, 3000000, builder.AddSite(RETURN, load, 9), 20480, 12288);
    call.stack = returned.stack = nine;
    returned.thread = 2;
    builder.AddRecord(EncodeRows({call, returned}, /*stacks=*/true));
  }
  HeapEvent kept = AllocEvent(2000000, 0x5000, 100, nine);
  HeapEvent freed = AllocEvent(2000001, 0x6000, 50, four);
  builder.AddHeap({kept, freed, FreeEvent(2500000, 0x6000)});
  builder.AddPages(CamePages(2000002, 5, 2, nine));
  builder.AddMark(2600000, 2, 1, "half", 20480);
  builder.AddProcess(2700000, 20480, 20480);
  Record footer;
  footer.mutable_footer()->set_end(Footer::EXIT);
  footer.mutable_footer()->set_end_us(4000000);
  builder.AddRecord(footer);
  builder.Flush();
  return sink.contents();
}

class RunRelationsTest : public testing::Test {
 protected:
  // The lines of CSV, without the columns' names.
  std::vector<std::string> Ask(const std::string& sql,
                               const std::vector<std::string>& options = {}) {
    std::vector<std::string> words = {"query", file_.path(), sql, "--csv"};
    words.insert(words.end(), options.begin(), options.end());
    printed_ = Report(words);
    std::vector<std::string> lines = CsvLines(printed_);
    if (!lines.empty()) lines.erase(lines.begin());
    return lines;
  }

  const TempFile file_{ExampleRun()};
  Printed printed_;
};

TEST_F(RunRelationsTest, EventsAreThoseOfTheFile) {
  EXPECT_THAT(
      Ask("SELECT event, clock_s, what, file, line, function, rss_bytes, "
          "drss_bytes, thread FROM events"),
      ElementsAre("1,1,CALL,/src/job.py,8,load,8192,4096,MainThread#4711",
                  "2,3,RETURN,/src/job.py,9,load,20480,12288,worker#4712"));
  EXPECT_THAT(Ask("SELECT thread, sum(drss_bytes) FROM events GROUP BY 1 "
                  "ORDER BY 2 DESC"),
              ElementsAre("worker#4712,12288", "MainThread#4711,4096"));
  EXPECT_THAT(Ask("SELECT what, line, thread, events, drss_bytes FROM "
                  "event_sums ORDER BY 2"),
              ElementsAre("CALL,8,MainThread#4711,1,4096",
                          "RETURN,9,worker#4712,1,12288"));
  EXPECT_EQ(printed_.code, 0) << printed_.err;
}

TEST_F(RunRelationsTest, HeapEventsHaveWeightsAndPlaces) {
  EXPECT_THAT(
      Ask("SELECT clock_s, action, address, size_bytes, weight, allocator, "
          "file, line, function, thread FROM heap_events"),
      ElementsAre("2,allocated,0x5000,100,1,obj,/src/job.py,9,load,"
                  "MainThread#4711",
                  "2.000001,allocated,0x6000,50,1,obj,/src/job.py,4,<module>,"
                  "MainThread#4711",
                  "2.5,freed,0x6000,,,,,,,MainThread#4711"));
}

TEST_F(RunRelationsTest, BlocksAreThoseOfTheMoment) {
  const std::string sql =
      "SELECT address, size_bytes, line, own_line FROM blocks";
  EXPECT_THAT(Ask(sql, {"--at", "exit"}), ElementsAre("0x5000,100,9,9"));
  EXPECT_THAT(Ask(sql, {"--at", "heap-peak"}),
              ElementsAre("0x5000,100,9,9", "0x6000,50,4,4"));
  EXPECT_THAT(Ask(sql, {"--at", "1"}), IsEmpty());
  EXPECT_EQ(printed_.code, 0);
}

TEST_F(RunRelationsTest, AMomentThatIsNotIsSaidOnceAndWithTheFile) {
  for (const char* const table :
       {"blocks", "pages", "thread_memory", "places", "marks"}) {
    Ask(absl::StrCat("SELECT * FROM ", table), {"--at", "nowhere"});
    EXPECT_EQ(printed_.code, kExitUsage);
    EXPECT_THAT(std::string(absl::StripSuffix(printed_.err, "\n")),
                AllOf(StartsWith("pymemreport: " + file_.path() + ": --at: "),
                      HasSubstr("'nowhere'"), Not(HasSubstr("\n"))));
  }
}

TEST_F(RunRelationsTest, ThatATableHasNoMomentIsSaid) {
  const std::string moments = "blocks, pages and thread_memory";
  Ask("SELECT * FROM places", {"--at", "exit"});
  EXPECT_EQ(printed_.err,
            "pymemreport: --at sets the moment of " + moments + " only\n");
  for (const char* const both : {"places, blocks", "Places, BLOCKS"}) {
    Ask(absl::StrCat("SELECT * FROM ", both), {"--at", "exit"});
    EXPECT_EQ(printed_.err, "");
  }
  EXPECT_THAT(Report({"tables"}).out,
              StartsWith("--at sets the moment of " + moments + ".\n"));
}

// Others may be of the same microsecond as the peak.
TEST(BlocksTest, AreThoseOfTheEvent) {
  StringSink sink;
  RunBuilder builder(&sink);
  Header header = RunBuilder::DefaultHeader();
  header.set_heap(HEAP_ALL);
  builder.AddHeader(header);
  builder.AddThread("MainThread", 4711);
  builder.AddHeap({AllocEvent(5, 0x1000, 100, 0), AllocEvent(6, 0x2000, 50, 0),
                   FreeEvent(6, 0x1000), AllocEvent(6, 0x3000, 70, 0),
                   FreeEvent(7, 0x2000), AllocEvent(7, 0x4000, 10, 0)});
  builder.Flush();
  const TempFile file(sink.contents());
  EXPECT_THAT(CsvLines(Report({"query", file.path(),
                               "SELECT address, size_bytes FROM blocks", "--at",
                               "heap-peak", "--csv"})),
              ElementsAre("address,size_bytes", "0x1000,100", "0x2000,50"));
}

TEST_F(RunRelationsTest, PagesMarksAndSamples) {
  EXPECT_THAT(
      Ask("SELECT action, address, pages, bytes, line FROM page_events"),
      ElementsAre("came,0x5000,1,4096,9", "came,0x6000,1,4096,9"));
  EXPECT_THAT(Ask("SELECT clock_s, label, rss_bytes FROM marks"),
              ElementsAre("2.6,half,20480"));
  EXPECT_THAT(Ask("SELECT clock_s, rss_bytes FROM samples"),
              ElementsAre("2.7,20480"));
}

// Frames from the innermost one out.
TEST_F(RunRelationsTest, StacksAreFollowedToTheirParents) {
  EXPECT_THAT(
      Ask("WITH RECURSIVE up(id, depth) AS (SELECT max(stack), 0 FROM "
          "heap_events UNION ALL SELECT s.parent, depth + 1 FROM up JOIN "
          "stacks s ON s.id = up.id WHERE s.parent IS NOT NULL) SELECT depth, "
          "line, function FROM up JOIN stacks USING (id)"),
      ElementsAre("0,9,load", "1,4,<module>"));
  // A unary plus keeps SQLite from looking up.
  for (const char* table : {"stacks", "threads", "mappings"}) {
    for (const int id : {-1, 0, 1, 2, 3, 1 << 30}) {
      const std::string all = absl::StrCat("SELECT * FROM ", table, " WHERE ");
      EXPECT_EQ(Ask(absl::StrCat(all, "id = ", id)),
                Ask(absl::StrCat(all, "+id = ", id)))
          << table << id;
    }
  }
}

// They have the cells that the reports' tables have.
TEST_F(RunRelationsTest, ReportsAreTables) {
  EXPECT_THAT(Ask("SELECT thread, growth_bytes, live_bytes, live_error_bytes, "
                  "first_s, rows, top_line FROM thread_memory"),
              ElementsAre("MainThread#4711,8192,0,,0,1,/src/job.py:9 load",
                          "worker#4712,0,0,,0,1,"));
  EXPECT_THAT(Ask("SELECT * FROM gil_threads"), IsEmpty());
  EXPECT_THAT(printed_.err, HasSubstr("gil_threads: has no GIL events"));
  EXPECT_EQ(printed_.code, 0);
  const TempFile gil(Contended().Build());
  const auto ask = [&gil](const std::string& sql) {
    return CsvLines(Report({"query", gil.path(), sql, "--csv"})).back();
  };
  EXPECT_EQ(ask("SELECT thread, held_s, stopped_s, longest_wait_for FROM "
                "gil_threads WHERE waits > 0"),
            "worker#12,0.03,,MainThread#11");
  EXPECT_EQ(ask("SELECT waiter, holder, waiting_s FROM gil_blockers"),
            "worker#12,MainThread#11,0.04");
  EXPECT_EQ(ask("SELECT waiter, at_s, wait_s FROM gil_waits"),
            "worker#12,0.02,0.04");
  EXPECT_EQ(ask("SELECT file, line, calls, blocked_s FROM gil_places"),
            "/app.py,31,json.loads,0.04");
}

// They are found by name.
TEST_F(RunRelationsTest, ColumnsOfReportsAreThoseThatTheReportsHave) {
  const TempFile gil(Contended().Build());
  const auto headings = [](const std::vector<std::string>& words) {
    const std::vector<std::string> names =
        absl::StrSplit(CsvLines(Report(words)).front(), ',');
    return std::set<std::string>(names.begin(), names.end());
  };
  const struct {
    std::string table;
    std::vector<std::string> report;
  } tables[] = {
      {"thread_memory", {"threads", file_.path()}},
      {"gil_threads", {"gil", gil.path()}},
      {"gil_blockers", {"gil", gil.path(), "--rows", "blockers"}},
      {"gil_waits", {"gil", gil.path(), "--rows", "waits"}},
      {"gil_places", {"gil", gil.path(), "--rows", "places"}},
  };
  for (const auto& each : tables) {
    std::vector<std::string> words = each.report;
    words.push_back("--csv");
    std::set<std::string> there = headings(words);
    there.insert({"run", "stopped_s"});  // the latter without a GIL
    const std::set<std::string> asked =
        headings({"query", each.report[1],
                  "SELECT * FROM " + each.table + " LIMIT 1", "--csv"});
    EXPECT_GT(asked.size(), 2u) << each.table;
    EXPECT_TRUE(
        std::includes(there.begin(), there.end(), asked.begin(), asked.end()))
        << each.table << ": " << testing::PrintToString(asked);
  }
}

// By the names of the columns.
std::map<std::string, std::string> OneRow(const Printed& printed) {
  const std::vector<std::string> lines = CsvLines(printed);
  EXPECT_EQ(lines.size(), 2u);
  const std::vector<std::string> names = absl::StrSplit(lines.front(), ',');
  const std::vector<std::string> cells = absl::StrSplit(lines.back(), ',');
  std::map<std::string, std::string> row;
  for (size_t i = 0; i < names.size(); ++i) row[names[i]] = cells[i];
  return row;
}

TEST_F(RunRelationsTest, AProcessIsAsItsReportsHaveIt) {
  const auto found = OneRow(
      Report({"query", file_.path(), "SELECT * FROM processes", "--csv"}));
  EXPECT_EQ(found.at("live_peak_bytes"), "150");
  EXPECT_EQ(std::stod(found.at("ended_s")) - std::stod(found.at("started_s")),
            4);
  const auto processes = OneRow(Report({"processes", file_.path(), "--csv"}));
  const auto summary = OneRow(Report({"summary", file_.path(), "--csv"}));
  EXPECT_EQ(found.at("how_ended"), processes.at("end"));
  for (const auto& [name, cell] : found) {
    for (const auto* report : {&processes, &summary}) {
      const auto same = report->find(name);
      if (same == report->end()) continue;
      double number = 0;
      EXPECT_TRUE(same->second == cell || (absl::SimpleAtod(cell, &number) &&
                                           std::stod(same->second) == number))
          << name << " " << cell << " " << same->second;
    }
  }
}

TEST_F(RunRelationsTest, ChildrenAreJoinedToTheirParents) {
  const auto run_of = [](uint32_t pid, uint32_t parent_pid) {
    StringSink sink;
    RunBuilder builder(&sink);
    Header header = RunBuilder::DefaultHeader();
    header.set_pid(pid);
    header.set_parent_pid(parent_pid);
    builder.AddHeader(header);
    builder.Flush();
    return sink.contents();
  };
  const TempFile parent(run_of(10, 1)), child(run_of(11, 10));
  EXPECT_THAT(
      CsvLines(Report({"query", parent.path(), child.path(),
                       "SELECT a.pid, b.pid, b.run, b.how_ended FROM processes "
                       "a JOIN processes b ON b.parent_pid = a.pid AND b.host "
                       "= a.host",
                       "--csv"})),
      ElementsAre(testing::_,
                  absl::StrCat("10,11,", child.path(), ",no end in the file")));
}

TEST_F(RunRelationsTest, MemoryOfThreadsIsThatOfTheMoment) {
  const std::string sql =
      "SELECT growth_bytes, peak_bytes, live_bytes FROM thread_memory LIMIT 1";
  EXPECT_THAT(Ask(sql, {"--at", "1"}), ElementsAre("8192,0,0"));
  EXPECT_THAT(Ask(sql, {"--at", "heap-peak"}), ElementsAre("8192,0,150"));
  EXPECT_THAT(Ask(sql, {"--at", "exit"}), ElementsAre("8192,8192,100"));
}

TEST_F(RunRelationsTest, SeveralRunsAreTold) {
  const TempFile other(ExampleRun(/*calls=*/false));
  const Printed printed =
      Report({"query", file_.path(), other.path(),
              "SELECT run, count(*) FROM heap_events GROUP BY 1", "--csv"});
  EXPECT_THAT(CsvLines(printed),
              testing::UnorderedElementsAre("run,count(*)",
                                            absl::StrCat(file_.path(), ",3"),
                                            absl::StrCat(other.path(), ",3")));
}

TEST_F(RunRelationsTest, WhatWasNotRecordedIsSaid) {
  const TempFile other(ExampleRun(/*calls=*/false));
  for (const char* const name : {"events", "EVENTS", "\"Events\""}) {
    const Printed printed = Report(
        {"query", other.path(), absl::StrCat("SELECT count(*) FROM ", name)});
    EXPECT_THAT(printed.err, HasSubstr("events: has no calls: record them with "
                                       "pymemrun --trace calls"));
    EXPECT_EQ(printed.code, 0);
  }
  EXPECT_EQ(
      Report({"query", other.path(), "SELECT count(*) FROM heap_events"}).err,
      "");
  EXPECT_THAT(Report({"tables", other.path()}).out,
              HasSubstr("(none: the run has no calls"));
}

TEST_F(RunRelationsTest, EachColumnOfEachTableHasCells) {
  FdSink nowhere(-1);
  const Console silent = {"test", &nowhere, -1, -1};
  const auto run = RelationRun::Read(file_.path(), {Moment::kEnd}, silent);
  ASSERT_NE(run, nullptr);
  for (const auto& relation : RunRelations(run.get())) {
    const auto rows = relation->Rows();
    absl::StatusOr<bool> more = rows->Next();
    for (; more.ok() && *more; more = rows->Next()) {
      for (size_t i = 0; i < relation->columns().size(); ++i) {
        const RelationValue value = rows->At(static_cast<int>(i));
        const ValueKind kind = relation->columns()[i].type.kind;
        EXPECT_TRUE(value.index() == 0 ||
                    (kind == ValueKind::kText) == (value.index() == 1))
            << relation->name() << " " << relation->columns()[i].name;
      }
    }
    EXPECT_TRUE(more.ok()) << relation->name() << " " << more.status();
  }
}

TEST_F(RunRelationsTest, ARunThatCannotBeReadAgainHasNoSums) {
  FdSink nowhere(-1);
  const Console silent = {"test", &nowhere, -1, -1};
  const auto run = RelationRun::Read(file_.path(), {Moment::kEnd}, silent);
  ASSERT_NE(run, nullptr);
  ASSERT_EQ(truncate(file_.path().c_str(), 0), 0);
  const auto sums = EventSumsRelation(run.get());
  EXPECT_EQ(sums->Rows()->Next().status(), RelationRun::NotRead());
  EXPECT_EQ(sums->Rows()->Next().status(), RelationRun::NotRead());
}

TEST_F(RunRelationsTest, NothingIsWrittenAndNothingElseRead) {
  const std::string target = absl::StrCat(file_.path(), ".other");
  for (const std::string& sql :
       {absl::StrCat("ATTACH '", target, "' AS other"),
        absl::StrCat("VACUUM INTO '", target, "'"),
        std::string("PRAGMA temp_store_directory='/tmp'"),
        std::string("CREATE TABLE t(a)"), std::string("DELETE FROM events"),
        std::string("UPDATE events SET line = 1"),
        std::string("DROP TABLE events"),
        std::string("CREATE VIRTUAL TABLE t USING events"),
        absl::StrCat("SELECT readfile('", file_.path(), "')"),
        absl::StrCat("SELECT writefile('", target, "', 'x')"),
        std::string("SELECT load_extension('x')"),
        std::string("SELECT * FROM pragma_database_list; ATTACH 'x' AS y"),
        std::string("SELECT zeroblob(1000000000)")}) {
    EXPECT_THAT(Ask(sql), IsEmpty()) << sql;
    EXPECT_NE(printed_.code, 0) << sql;
    EXPECT_THAT(printed_.err, Not(IsEmpty())) << sql;
    EXPECT_NE(access(target.c_str(), F_OK), 0) << sql;
  }
}

TEST_F(RunRelationsTest, WordsThatAreNoSelectAreSaid) {
  EXPECT_THAT(Report({"query", file_.path()}).err,
              HasSubstr("expected a SELECT after FILE"));
  EXPECT_THAT(Report({"query", file_.path(), "SELECT x FROM events"}).err,
              HasSubstr("no such column: x"));
}

}  // namespace
}  // namespace pymemrun
