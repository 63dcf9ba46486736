// What the commands of pymemobj say of where objects were allocated.
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/testing/heap_run_for_tests.h"
#include "readers/testing/object_run_builder.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/temp_folder.h"

namespace pymemrun {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// sys.modules['app'].CACHE is a list of 10 strings of 1000 bytes, in the blocks
// of line 5 of a HeapRun; one more is in a block of line 6.
class AllocationsTest : public testing::Test {
 protected:
  AllocationsTest() {
    modules_ = builder_.AddGroup("modules");
    list_ = builder_.Add("list", 56, std::nullopt, 11);
    builder_.node(list_).address = 0x201000;  // of line 6
    builder_.Refer(modules_, list_, EDGE_ROOT, "CACHE");
    for (uint64_t i = 0; i < 10; ++i) AddItem(0x100000 + i * 4096);
    AddItem(0x200000);
    builder_.begin().set_time_us(4000);
    dump_ = Write("run.obj.pb", builder_.Write());
    run_ = Write("run.pb", HeapRun().Build());
  }
  void AddItem(uint64_t address) {
    item_ = builder_.Add("str", 1000);
    builder_.node(item_).address = address;
    builder_.Refer(list_, item_, EDGE_INDEX);
  }
  std::string Write(const std::string& name, const std::string& contents) {
    return folder_.Write(name, contents);
  }

  ObjectRunBuilder builder_;
  uint32_t modules_, list_, item_;
  TempFolder folder_;
  std::string dump_, run_;
};

TEST_F(AllocationsTest, ShowHasStackTimeAndThread) {
  const Printed printed = Objects({dump_, "show", "0x100000"});
  EXPECT_EQ(printed.code, kExitOk) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("Allocated at 0.001 s by MainThread#4711:"
                                     "\n  /job.py:5 load\n  /job.py:9 "
                                     "<module>\n"));
  EXPECT_THAT(printed.out, Not(HasSubstr("made elsewhere")));
  const auto json =
      nlohmann::json::parse(Objects({dump_, "show", "0x100000", "--json"}).out);
  EXPECT_EQ(json[0]["allocated_line"], "/job.py:5 load");
  EXPECT_EQ(json[0]["allocated_stack"], "/job.py:9:<module>;/job.py:5:load");
  EXPECT_EQ(json[0]["allocated_s"], 0.001);
  EXPECT_EQ(json[0]["allocated_thread"], "MainThread#4711");
  EXPECT_EQ(json[0]["allocated_sure"], 1);
}

TEST_F(AllocationsTest, WhatCPythonUsesAgainIsNotSure) {
  EXPECT_THAT(
      Objects({dump_, "show", "0x201000"}).out,
      HasSubstr("CPython reuses blocks of a list, so the object may have "
                "been made elsewhere."));
  const auto json =
      nlohmann::json::parse(Objects({dump_, "show", "0x201000", "--json"}).out);
  EXPECT_EQ(json[0]["allocated_sure"], 0);
}

TEST_F(AllocationsTest, SuspectsNameTheCommonestLine) {
  const Printed printed = Objects({dump_, "suspects"});
  EXPECT_THAT(printed.out,
              HasSubstr("   10 of them were allocated by /job.py:5 load.\n   "
                        "One of them at 0.001 s by MainThread#4711:\n     "
                        "/job.py:5 load\n     /job.py:9 <module>\n"));
  // The list's own block may have been another's.
  EXPECT_THAT(printed.out, Not(HasSubstr("/job.py:6")));
  const auto json =
      nlohmann::json::parse(Objects({dump_, "suspects", "--json"}).out);
  EXPECT_EQ(json[0]["most_line"], "/job.py:5 load");
  EXPECT_EQ(json[0]["most_line_objects"], 10);
  EXPECT_EQ(json[0]["allocated_line"], "/job.py:6 load");
  EXPECT_EQ(json[0]["allocated_sure"], 0);
}

TEST_F(AllocationsTest, WhatAnEarlierObjectMayHaveHadIsNoLinesOfSuspects) {
  for (uint64_t i = 0; i < 2; ++i) {
    const uint32_t dict = builder_.Add("dict", 7000);
    builder_.node(dict).address = 0x202000 + i * 4096;
    builder_.Refer(list_, dict, EDGE_OTHER);
    if (i != 0) continue;
    builder_.node(dict).beside = 0x204000;  // its table
    builder_.node(dict).beside_bytes = 1000;
  }
  Write("run.obj.pb", builder_.Write());
  const auto json =
      nlohmann::json::parse(Objects({dump_, "suspects", "--json"}).out);
  EXPECT_EQ(json[0]["most_type"], "dict");
  EXPECT_EQ(json[0]["most_line"], "/job.py:6 load");
  EXPECT_EQ(json[0]["most_line_objects"], 1);
  EXPECT_THAT(Objects({dump_, "suspects"}).out,
              HasSubstr("   The lines of 1 are not known: CPython reused "
                        "memory of earlier objects.\n"));
}

TEST_F(AllocationsTest, SuspectsSayWhatNoObjectExplains) {
  EXPECT_THAT(Objects({dump_, "suspects"}).out,
              Not(HasSubstr("No object explains")));
  // 1 MiB is the tracer's.
  builder_.begin().set_rss_bytes(2 << 20);
  Write("run.obj.pb", builder_.Write());
  EXPECT_THAT(Objects({dump_, "suspects"}).out,
              HasSubstr("No object explains 1013.2 KiB (99 %) of the 1.0 MiB "
                        "that the program had resident:\nmemory of C code and "
                        "libraries, or free memory.\n"));
  EXPECT_THAT(
      Objects({Write("alone.obj.pb", builder_.Write()), "suspects"}).out,
      HasSubstr("of the 2.0 MiB that were resident:\nmemory of C code and "
                "libraries, free memory, or tracing itself.\n"));
}

TEST_F(AllocationsTest, LinesChooseAndAreColumnsOfLists) {
  const Printed list =
      Objects({dump_, "list", "--where", "line=job.py:6", "--csv"});
  EXPECT_THAT(CsvLines(list),
              ElementsAre(HasSubstr("allocated_line,allocated_stack"),
                          HasSubstr("0x200000")));  // the list is not sure
  const Printed summary = Objects({dump_, "--where", "line=job.py:5", "--csv"});
  EXPECT_THAT(CsvLines(summary),
              ElementsAre(HasSubstr("objects"), HasSubstr("10,10000,")));
  const Printed collapse =
      Objects({dump_, "collapse", "--where", "line=job.py:5", "--csv"});
  EXPECT_THAT(CsvLines(collapse),
              ElementsAre(HasSubstr("objects"), HasSubstr("10,10000,")));
}

TEST_F(AllocationsTest, DiffsAreByLine) {
  builder_.begin().set_time_us(4500);
  AddItem(0x202000);
  AddItem(0x999000);
  const std::string newer = Write("run.obj-1.pb", builder_.Write());
  const Printed printed =
      Objects({dump_, "diff", newer, "--by", "line", "--csv"});
  EXPECT_EQ(printed.code, kExitOk) << printed.err;
  EXPECT_THAT(CsvLines(printed),
              ElementsAre(HasSubstr(",allocated_line"), "1000,1,1,1000,0,0,0,",
                          "1000,1,1,1000,0,0,0,/job.py:6 load"));
}

TEST_F(AllocationsTest, WithoutTheRunAllElseIsAsBefore) {
  std::filesystem::remove(run_);
  const Printed show = Objects({dump_, "show", "0x100000"});
  EXPECT_EQ(show.code, kExitOk);
  EXPECT_EQ(show.err, "");
  EXPECT_THAT(show.out, HasSubstr("Where it was allocated is not known: there "
                                  "is no " +
                                  run_));
  EXPECT_THAT(Objects({dump_, "suspects"}).out,
              HasSubstr("Where they were allocated is not known: there is no"));
  // Who asks for it is told.
  for (const std::vector<std::string>& asks :
       {std::vector<std::string>{"list", "--where", "line=job.py:5"},
        {"diff", dump_, "--by", "line"},
        {"collapse", "--where", "line=x"}}) {
    std::vector<std::string> arguments = {dump_};
    arguments.insert(arguments.end(), asks.begin(), asks.end());
    const Printed printed = Objects(arguments);
    EXPECT_EQ(printed.code, kExitFailed);
    EXPECT_EQ(printed.out, "");
    EXPECT_THAT(printed.err,
                HasSubstr(": where objects were allocated is not known: there "
                          "is no " +
                          run_ + "\n"));
  }
}

TEST_F(AllocationsTest, TheRunCanBeNamed) {
  const std::string other = folder_.path() + "/other.pb";
  std::filesystem::rename(run_, other);
  EXPECT_THAT(Objects({dump_, "show", "0x100000", "--run", other}).out,
              HasSubstr("/job.py:5 load"));
  HeapRun quiet;
  quiet.mode = HEAP_SAMPLED;
  Write("run.pb", quiet.Build());
  EXPECT_THAT(Objects({dump_, "show", "0x100500"}).code, kExitFailed);
  builder_.node(item_).address = 0x555000;
  EXPECT_THAT(
      Objects({Write("run.obj.pb", builder_.Write()), "show", "0x555000"}).out,
      HasSubstr("only a sample of the blocks was recorded"));
}

}  // namespace
}  // namespace pymemrun
