#include "readers/commands/objects/pymemobj.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/testing/object_run_builder.h"
#include "readers/testing/program_test_util.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// sys.modules['app'].CACHE, an app.Cache with 30 entries of 1000 bytes.
class PymemobjTest : public testing::Test {
 protected:
  PymemobjTest() {
    const uint32_t modules = builder_.AddGroup("modules");
    const uint32_t sys_modules = builder_.Add("dict", 1000, std::nullopt, 1);
    const uint32_t module = builder_.Add("module", 72, "app");
    const uint32_t app = builder_.Add("dict", 500, std::nullopt, 1);
    cache_ = builder_.Add("app.Cache", 48);
    list_ = builder_.Add("list", 56, std::nullopt, 30);
    builder_.Refer(modules, sys_modules, EDGE_ROOT, "sys.modules");
    builder_.Put(sys_modules, builder_.AddText("app"), module);
    builder_.Refer(module, app, EDGE_DICT);
    builder_.Put(app, builder_.AddText("CACHE"), cache_);
    builder_.Refer(cache_, list_, EDGE_ATTRIBUTE, "entries");
    for (int i = 0; i < 30; ++i) {
      entry_ = builder_.AddText(std::string(951, 'x'));
      builder_.Refer(list_, entry_, EDGE_INDEX);
    }
    builder_.begin().set_time_us(2500000);
    builder_.begin().set_pause_us(5700);
    builder_.begin().set_reason(OBJECTS_AT_EXIT);
  }

  // With FILE in front.
  Printed Run(std::vector<std::string> arguments) {
    const TempFile file(builder_.Write());
    arguments.insert(arguments.begin(), file.path());
    return Objects(arguments);
  }
  std::string At(uint32_t node) {
    return absl::StrCat("0x", absl::Hex(builder_.AddressOf(node)));
  }

  ObjectRunBuilder builder_;
  uint32_t cache_, list_, entry_;
};

TEST_F(PymemobjTest, SummaryListsTypes) {
  const Printed printed = Run({"summary", "--csv"});
  EXPECT_EQ(printed.err, "");
  EXPECT_THAT(
      CsvLines(printed),
      ElementsAre(
          "objects,bytes,share,largest_bytes,retained_bytes,type",
          "32,30106,0.947266,1000,30106,str", "2,1500,0.047197,1000,31782,dict",
          "1,72,0.002265,72,30730,module", "1,56,0.001762,56,30056,list",
          "1,48,0.001510,48,30104,app.Cache"));
}

TEST_F(PymemobjTest, AFileAloneIsItsSummary) {
  const Printed printed = Run({});
  EXPECT_THAT(printed.out,
              StartsWith("37 objects of 5 types take 31.0 KiB. They are those "
                         "of process"));
  EXPECT_THAT(printed.out, HasSubstr("after 2.500 s, when the program ended."));
  EXPECT_EQ(printed.out, Run({"summary"}).out);
}

TEST_F(PymemobjTest, WhereChoosesObjects) {
  const Printed printed =
      Run({"summary", "--csv", "--where", "type=str", "--where", "size>100"});
  EXPECT_THAT(
      CsvLines(printed),
      ElementsAre("objects,bytes,share,largest_bytes,retained_bytes,type",
                  "30,30000,1.000000,1000,,str"));
  const Printed wrong = Run({"list", "--where", "tpye=str"});
  EXPECT_EQ(wrong.code, kExitUsage);
  EXPECT_THAT(wrong.err, HasSubstr("--where: expected such as type=dict"));
}

TEST_F(PymemobjTest, SuspectsSayWhatAndWhere) {
  const Printed printed = Run({"suspects"});
  EXPECT_EQ(printed.code, 0);
  EXPECT_THAT(printed.out, HasSubstr("1 suspect keeps 10 % or more of 31.0 "
                                     "KiB alive."));
  EXPECT_THAT(printed.out,
              HasSubstr(absl::StrCat("1. app.Cache ", At(cache_),
                                     " keeps 29.4 KiB alive, 95 %.")));
  EXPECT_THAT(printed.out, HasSubstr("It is sys.modules['app'].CACHE\n"));
  EXPECT_THAT(printed.out,
              HasSubstr(absl::StrCat("The bytes are in list ", At(list_),
                                     ", sys.modules['app'].CACHE.entries")));
  EXPECT_THAT(printed.out, HasSubstr("There are 30 objects of str with"));
  const auto json = nlohmann::json::parse(Run({"suspects", "--json"}).out);
  EXPECT_EQ(json[0]["path"], "sys.modules['app'].CACHE");
  EXPECT_EQ(json[0]["retained_bytes"], 30104);
  EXPECT_EQ(json[0]["most_objects"], 30);
}

TEST_F(PymemobjTest, SuspectsThatNoRootLeadsToAreGarbageOrOfC) {
  const uint32_t group = builder_.AddGroup("gc tracked, not reached");
  builder_.Refer(group, builder_.Add("app.Held", 50000), EDGE_ROOT, "root");
  EXPECT_THAT(Run({"suspects"}).out,
              HasSubstr("No root leads to it: garbage that waits for the cycle "
                        "collector, or C code holds it."));
}

TEST_F(PymemobjTest, PathShowsEachStep) {
  const Printed printed = Run({"path", At(entry_)});
  EXPECT_THAT(printed.out,
              HasSubstr("\nsys.modules['app'].CACHE.entries[29]\n"));
  EXPECT_THAT(printed.out, HasSubstr(".entries"));
  const auto lines = CsvLines(Run({"path", At(entry_), "--csv"}));
  ASSERT_EQ(lines.size(), 8u);
  EXPECT_THAT(lines[0], StartsWith("chain,step,reference,bytes"));
  EXPECT_THAT(lines[1], StartsWith("1,1,modules,0,"));
  EXPECT_THAT(lines[7], StartsWith(absl::StrCat("1,7,[29],1000,1000,",
                                                At(entry_), ",0,1,951,")));
}

TEST_F(PymemobjTest, LongChainsAreShownInPart) {
  uint32_t last = builder_.Add("app.Link", 10);
  builder_.Refer(list_, last, EDGE_INDEX);
  for (int i = 0; i < 1000; ++i) {
    const uint32_t next = builder_.Add("app.Link", 10);
    builder_.Refer(last, next, EDGE_ATTRIBUTE, "next");
    last = next;
  }
  const Printed printed = Run({"path", At(last)});
  EXPECT_THAT(printed.out,
              HasSubstr("\nsys.modules['app'].CACHE.entries[30].next.next.next."
                        "next.next > (987 more) > .next.next.next.next.next."
                        "next.next.next\n"));
  EXPECT_THAT(printed.out, HasSubstr("947 more steps are not listed"));
  EXPECT_EQ(CsvLines(Run({"path", At(last), "--csv"})).size(), 1008u);
  EXPECT_EQ(CsvLines(Run({"path", At(last), "--csv", "--limit", "60"})).size(),
            61u);
}

TEST_F(PymemobjTest, ShowTellsOfOneObject) {
  builder_.node(list_).flags = ObjectBatch::IMMORTAL;
  const Printed printed = Run({"show", At(list_)});
  EXPECT_THAT(printed.out,
              StartsWith(absl::StrCat("list ", At(list_),
                                      " takes 56 bytes. It keeps 29.4 KiB "
                                      "alive, 95 % of all that is alive.\n")));
  EXPECT_THAT(printed.out, HasSubstr("It is immortal"));
  EXPECT_THAT(
      printed.out,
      HasSubstr(absl::StrCat("It would be freed with app.Cache ", At(cache_))));
}

TEST_F(PymemobjTest, NeighboursHaveTheirReferences) {
  EXPECT_THAT(CsvLines(Run({"parents", At(list_), "--csv"})),
              Contains(StartsWith(
                  absl::StrCat(".entries,48,30104,", At(cache_), ",1,1,,"))));
  EXPECT_THAT(CsvLines(Run({"children", At(cache_), "--csv"})),
              Contains(StartsWith(
                  absl::StrCat(".entries,56,30056,", At(list_), ",30,1,30,"))));
  const Printed refs = Run({"refs", At(list_), "--csv", "--limit", "2"});
  EXPECT_THAT(CsvLines(refs),
              ElementsAre(StartsWith("name,"), StartsWith("0,1000,"),
                          StartsWith("1,1000,")));
  EXPECT_THAT(CsvLines(Run({"refs", At(cache_), "--csv"})),
              Contains(StartsWith("entries,56,")));
  EXPECT_THAT(Run({"parents", At(list_)}).out, HasSubstr("1 reference leads"));
  EXPECT_THAT(Run({"children", At(list_)}).out, HasSubstr("30 references"));
}

TEST_F(PymemobjTest, RefsLeaveTheTypeOut) {
  builder_.Refer(cache_, builder_.Add("type", 900, "Cache"), EDGE_TYPE,
                 "__class__");
  EXPECT_EQ(CsvLines(Run({"refs", At(cache_), "--csv"})).size(), 2u);
  EXPECT_EQ(CsvLines(Run({"children", At(cache_), "--csv"})).size(), 3u);
}

TEST_F(PymemobjTest, AValueWithSlashesIsCutAtItsEnd) {
  builder_.Refer(list_, builder_.AddText("begin/" + std::string(90, 'y')),
                 EDGE_INDEX);
  setenv("COLUMNS", "80", 1);
  EXPECT_THAT(Run({"list", "--where", "value=begin*"}).out,
              HasSubstr("'begin/"));
  unsetenv("COLUMNS");
}

TEST_F(PymemobjTest, RetainedTakesAnObjectOrAType) {
  EXPECT_THAT(Run({"retained", At(cache_)}).out,
              HasSubstr("keeps 29.4 KiB in 32 objects alive, 95 %"));
  EXPECT_THAT(Run({"retained", "str"}).out,
              HasSubstr("32 objects of str together keep 29.4 KiB in 32"));
  EXPECT_THAT(CsvLines(Run({"retained", "Cache", "--csv"})),
              ElementsAre("objects,bytes,type", "30,30000,str", "1,56,list",
                          "1,48,app.Cache"));
  const Printed none = Run({"retained", "nothing"});
  EXPECT_EQ(none.code, kExitFailed);
  EXPECT_THAT(none.err, HasSubstr("no object and no type 'nothing'"));
}

TEST_F(PymemobjTest, DominatorsAreATree) {
  const auto lines = CsvLines(Run({"dominators", "--csv"}));
  ASSERT_GE(lines.size(), 6u);
  EXPECT_THAT(lines[1], StartsWith("0,31782,,1.000000,0,<root>,"));
  EXPECT_THAT(lines[2], StartsWith("1,31782,,1.000000,0,<group>,modules"));
  EXPECT_THAT(lines[6], HasSubstr(",app.Cache,"));
  EXPECT_THAT(Run({"dominators", "--depth", "6"}).out,
              HasSubstr("            list"));
  EXPECT_THAT(CsvLines(Run({"dominators", At(list_), "--csv", "--min", "1"})),
              testing::SizeIs(12));
}

TEST_F(PymemobjTest, DuplicatesSayWhatOneWouldSave) {
  const Printed printed = Run({"duplicates"});
  EXPECT_THAT(printed.out,
              StartsWith("One copy of each would save 28.3 KiB: 29 "
                         "objects could go."));
}

TEST_F(PymemobjTest, CyclesAreGarbage) {
  EXPECT_THAT(Run({"cycles"}).out, HasSubstr("no garbage waits"));
  const uint32_t group = builder_.AddGroup("gc tracked, not reached");
  const uint32_t node = builder_.Add("app.Node", 48);
  builder_.Refer(group, node, EDGE_OTHER);
  EXPECT_THAT(Run({"cycles"}).out, HasSubstr("They form no cycle"));
  builder_.Refer(node, node, EDGE_ATTRIBUTE, "me");
  EXPECT_THAT(Run({"cycles"}).out,
              HasSubstr("1 object with 48 bytes is reached from no root. Among "
                        "them is 1 cycle."));
  builder_.Refer(node, builder_.Add("str", 70), EDGE_OTHER);
  EXPECT_THAT(Run({"cycles", "--csv"}).out,
              HasSubstr(absl::StrCat("48,1,1,70,1,", At(node), ",app.Node")));
}

TEST_F(PymemobjTest, CollapseCountsDictsInTheirInstances) {
  const Printed printed = Run({"collapse", "--csv"});
  EXPECT_THAT(CsvLines(printed), Contains(StartsWith("1,572,")));
}

TEST_F(PymemobjTest, DiffByDominatorSaysWhoKeepsMore) {
  const TempFile older(builder_.Write());
  for (int i = 0; i < 50; ++i) {
    builder_.Refer(list_, builder_.AddText(std::string(951, 'y')), EDGE_INDEX);
  }
  const TempFile newer(builder_.Write());
  EXPECT_THAT(
      CsvLines(Objects(
          {older.path(), "diff", newer.path(), "--by", "dominator", "--csv"})),
      ElementsAre(
          "net_bytes,retained_bytes,address,state,old_retained_bytes,"
          "type,path",
          absl::StrCat("50000,80056,", At(list_), ",changed,30056,list,",
                       "sys.modules['app'].CACHE.entries")));
  EXPECT_THAT(
      Objects({older.path(), "diff", newer.path(), "--by", "dominator"}).out,
      HasSubstr(absl::StrCat("1. list ", At(list_),
                             " keeps 48.8 KiB more alive: 78.2 KiB now.\n",
                             "   It is sys.modules['app'].CACHE.entries\n")));
  EXPECT_THAT(
      Objects({older.path(), "diff", older.path(), "--by", "dominator"}).out,
      HasSubstr("\nNo object keeps a thousandth of it more or less alive.\n"));
  builder_.header().set_pid(12345);
  const TempFile foreign(builder_.Write());
  const Printed printed =
      Objects({older.path(), "diff", foreign.path(), "--by", "dominator"});
  EXPECT_EQ(printed.code, kExitFailed);
  EXPECT_EQ(printed.err,
            "pymemobj: --by dominator needs two dumps of one process\n");
}

TEST_F(PymemobjTest, DiffComparesTwoDumps) {
  const TempFile older(builder_.Write());
  builder_.Refer(list_, builder_.Add("app.Fresh", 500), EDGE_INDEX);
  const TempFile newer(builder_.Write());
  const Printed printed = Objects({older.path(), "diff", newer.path()});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(printed.out, StartsWith("The objects take 500 bytes more:"));
  EXPECT_THAT(printed.out, HasSubstr("app.Fresh"));
  const Printed csv = Objects({"diff", older.path(), newer.path(), "--csv"});
  EXPECT_THAT(CsvLines(csv), Contains("500,1,1,500,0,0,0,app.Fresh"));
  EXPECT_EQ(Objects({older.path(), "diff"}).code, kExitUsage);
}

TEST_F(PymemobjTest, QueryAnswersInSql) {
  const std::string sql =
      "SELECT type, count(*) AS n FROM nodes WHERE size = 1000 GROUP BY 1";
  EXPECT_THAT(CsvLines(Run({"query", sql, "--csv"})),
              ElementsAre("type,n", "dict,1", "str,30"));
  EXPECT_THAT(Run({"query", sql}).out, StartsWith("2 rows.\n\n"));
  EXPECT_THAT(Run({"query", sql, "--limit", "1"}).out,
              StartsWith("The first 1 rows; --limit 0 lists all."));
  const Printed more = Run({"query", sql, "--limit", "1", "--json"});
  EXPECT_EQ(nlohmann::json::parse(more.out)[0]["n"], 1);
  EXPECT_THAT(more.err, HasSubstr("only the first 1 rows are printed"));
  const Printed wrong = Run({"query", "SELECT colour FROM nodes"});
  EXPECT_EQ(wrong.code, kExitUsage);
  EXPECT_EQ(wrong.out, "");
  EXPECT_EQ(wrong.err, "pymemobj: SQL: no such column: colour\n");
  // SQLite finds this one as it goes.
  const Printed late =
      Run({"query", "SELECT sum(9223372036854775807) FROM types"});
  EXPECT_EQ(late.code, kExitUsage);
  EXPECT_EQ(late.err, "pymemobj: SQL: integer overflow\n");
}

TEST_F(PymemobjTest, TreemapHasWhatKeepsMostAlive) {
  const Printed printed = Run({"treemap"});
  EXPECT_EQ(printed.code, 0);
  EXPECT_THAT(printed.out,
              HasSubstr("94.6 % of all, own size 56 bytes, 0x1500<"));
  EXPECT_THAT(printed.out, HasSubstr("&#39;CACHE&#39;] app.Cache"));
  EXPECT_THAT(printed.out, HasSubstr("classes of app"));
  EXPECT_THAT(Run({"treemap", At(list_)}).out, Not(HasSubstr("app.Cache")));
}

TEST_F(PymemobjTest, ListSorts) {
  const auto by_size =
      CsvLines(Run({"list", "--csv", "--sort", "size", "--limit", "1"}));
  EXPECT_THAT(by_size[1], StartsWith("1000,"));
  const auto by_retained = CsvLines(Run({"list", "--csv", "--limit", "1"}));
  EXPECT_THAT(by_retained[1], StartsWith("1000,31782,"));
  EXPECT_THAT(Run({"list"}).out, StartsWith("37 objects take 31.0 KiB."));
}

TEST_F(PymemobjTest, TextFitsATerminal) {
  setenv("COLUMNS", "80", 1);
  const std::string list = At(list_);
  const std::vector<std::vector<std::string>> commands = {
      {},
      {"suspects"},
      {"path", At(entry_)},
      {"list"},
      {"show", list},
      {"parents", list},
      {"children", list},
      {"refs", list},
      {"retained", list},
      {"dominators", "--depth", "9"},
      {"duplicates"},
      {"cycles"},
      {"collapse"}};
  for (const std::vector<std::string>& command : commands) {
    const Printed printed = Run(command);
    EXPECT_EQ(printed.code, kExitOk) << printed.err;
    EXPECT_THAT(printed.out, Not(testing::IsEmpty()));
    for (const absl::string_view line : absl::StrSplit(printed.out, '\n')) {
      EXPECT_LE(ColumnsOf(line), 80u) << line;
    }
  }
  unsetenv("COLUMNS");
}

TEST_F(PymemobjTest, WrongWordsAreUsageErrors) {
  const TempFile file(builder_.Write());
  const Printed unknown = Objects({file.path(), "sumary"});
  EXPECT_EQ(unknown.code, kExitUsage);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean summary?"));
  EXPECT_EQ(Objects({}).code, kExitUsage);
  EXPECT_EQ(Run({"show"}).code, kExitUsage);
  const Printed none = Run({"show", "0x5"});
  EXPECT_EQ(none.code, kExitFailed);
  EXPECT_THAT(none.err, HasSubstr("no object at '0x5'"));
  EXPECT_EQ(Objects({"/nowhere.pb"}).code, kExitFailed);
  EXPECT_EQ(Run({"list", "--csv", "--json"}).code, kExitUsage);
}

TEST_F(PymemobjTest, OtherReadersSayWhoReadsADump) {
  const TempFile file(builder_.Write());
  for (const Printed& printed :
       {Report({"summary", file.path()}), Report({file.path()}),
        Cat({"--summary", file.path()})}) {
    EXPECT_TRUE(printed.code == kExitFailed && printed.out.empty());
    EXPECT_THAT(printed.err,
                HasSubstr("a dump of the object graph, which pymemobj reads"));
  }
}

TEST_F(PymemobjTest, HelpFitsAScreen) {
  const Printed help = Objects({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const absl::string_view line : absl::StrSplit(help.out, '\n')) {
    EXPECT_LE(line.size(), 80u) << line;
  }
  EXPECT_THAT(help.out, HasSubstr("suspects"));
  EXPECT_THAT(Objects({"--help-all"}).out, HasSubstr("--min-share"));
  EXPECT_THAT(Objects({"--version"}).out, StartsWith("pymemobj "));
}

}  // namespace
}  // namespace pymemrun
