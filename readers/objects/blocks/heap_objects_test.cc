// `pymemreport heap --objects`.
#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/testing/heap_run_for_tests.h"
#include "readers/testing/object_run_builder.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/temp_folder.h"

namespace pymemrun {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// With a HeapRun: sys.modules' app.CACHE holds eight of the blocks of line 5 as
// strings, one has no holder, and one is no object. Line 6 has five: two
// strings of CACHE, and three lists, each of a name of its own.
class HeapObjectsTest : public testing::Test {
 protected:
  HeapObjectsTest() {
    const uint32_t modules = builder_.AddGroup("modules");
    const uint32_t lost = builder_.AddGroup("gc tracked, not reached");
    const uint32_t sys_modules = builder_.Add("dict", 1000);
    const uint32_t module = builder_.Add("module", 72, "app");
    const uint32_t app = app_ = builder_.Add("dict", 500);
    const uint32_t cache = builder_.Add("list", 56);
    builder_.Refer(modules, sys_modules, EDGE_ROOT, "sys.modules");
    builder_.Put(sys_modules, builder_.AddText("app"), module);
    builder_.Refer(module, app, EDGE_DICT);
    builder_.Put(app, builder_.AddText("CACHE"), cache);
    for (uint64_t i = 0; i < 8; ++i) {
      builder_.Refer(cache, AddAt("str", 0x100000 + i * 4096), EDGE_INDEX);
    }
    builder_.Refer(lost, AddAt("app.Node", 0x108000), EDGE_ROOT, "root");
    for (uint64_t i = 0; i < 2; ++i) {
      builder_.Refer(cache, AddAt("str", 0x200000 + i * 4096), EDGE_INDEX);
    }
    for (uint64_t i = 2; i < 5; ++i) {
      lists_.push_back(AddAt("list", 0x200000 + i * 4096));
      builder_.Put(app, builder_.AddText("LIST" + std::to_string(i)),
                   lists_.back());
    }
    builder_.begin().set_time_us(4000);
    run_ = Write("run.pb", HeapRun().Build());
    dump_ = Write("run.obj-1.pb", builder_.Write());
  }
  uint32_t AddAt(const std::string& type, uint64_t address) {
    const uint32_t node = builder_.Add(type, 100);
    builder_.node(node).address = address;
    return node;
  }
  std::string Write(const std::string& name, const std::string& contents) {
    return folder_.Write(name, contents);
  }

  ObjectRunBuilder builder_;
  TempFolder folder_;
  std::string run_, dump_;
  std::vector<uint32_t> lists_;
  uint32_t app_ = 0;
};

TEST_F(HeapObjectsTest, LinesHaveTypesAndHolders) {
  const Printed printed = Report({"heap", run_, "--objects", "--csv"});
  EXPECT_EQ(printed.code, kExitOk) << printed.err;
  EXPECT_THAT(
      CsvLines(printed),
      ElementsAre("file,line,function,live_bytes,type,objects_bytes,objects,"
                  "holder,holder_type,holder_bytes,rest_bytes,reused_objects",
                  "/job.py,6,load,5000,list,3000,3,sys.modules['app'].LIST2,"
                  "list,1000,0,3",
                  "/job.py,6,load,5000,str,2000,2,sys.modules['app'].CACHE,"
                  "list,2000,0,0",
                  "/job.py,5,load,1000,str,800,8,sys.modules['app'].CACHE,list,"
                  "800,100,0",
                  "/job.py,5,load,1000,app.Node,100,1,\"gc tracked, not "
                  "reached\",<group>,100,100,0",
                  "<frozen importlib._bootstrap>,101,_find,70,,,,,,,70,",
                  ",,<interpreter>,50,,,,,,,50,"));
}

TEST_F(HeapObjectsTest, AsTextItFitsATerminal) {
  const Printed printed = Report({"heap", run_, "--objects", "--limit", "2"});
  EXPECT_THAT(printed.out, HasSubstr("live 6.0 KiB in 17 blocks at the dump, "
                                     "0.004 s\n"));
  EXPECT_THAT(printed.out, HasSubstr("2.9 KiB  3 list*, held by several\n"));
  EXPECT_THAT(
      printed.out,
      HasSubstr("800 bytes  8 str, held by sys.modules['app'].CACHE\n"));
  EXPECT_THAT(printed.out, HasSubstr("100 bytes  1 app.Node, by no root: "
                                     "garbage, or C code holds it\n"));
  EXPECT_THAT(printed.out, HasSubstr("100 bytes  without an object\n"));
  EXPECT_THAT(printed.out, Not(HasSubstr("interpreter")));
  EXPECT_THAT(printed.out, HasSubstr("\n* CPython reuses blocks of such "
                                     "objects: other lines may have made "));
  for (const absl::string_view line : absl::StrSplit(printed.out, '\n')) {
    EXPECT_LE(line.size(), 80u) << line;
  }
}

TEST_F(HeapObjectsTest, AnEmptyDumpIsTheLastOne) {
  const Printed last = Report({"heap", run_, "--objects", "--limit", "2"});
  EXPECT_THAT(last.out, HasSubstr("bytes are those of blocks: "));
  const Printed empty = Report({"heap", run_, "--objects=", "--limit", "2"});
  EXPECT_EQ(empty.code, kExitOk) << empty.err;
  EXPECT_EQ(empty.out, last.out);
}

TEST_F(HeapObjectsTest, OfASampleThereAreErrors) {
  const std::string run = Write("run.pb", HeapRun{HEAP_SAMPLED, 1000}.Build());
  // Blocks of 1,000 bytes are recorded with p = 1 - 1/e: three stand for 4.75,
  // with a standard error of sqrt(3 (1 - p)) / p = 1.66.
  // The dump has three lists there, of 100 bytes, and ten strings of CACHE.
  const Printed table = Report({"heap", run, "--objects", "--csv"});
  EXPECT_THAT(CsvLines(table),
              Contains("/job.py,6,load,7910,list,300,3,sys.modules['app']."
                       "LIST2,list,100,0,0,0,3"));
  const Printed printed = Report({"heap", run, "--objects"});
  EXPECT_THAT(printed.out, HasSubstr("300 bytes  3 list*, held by several\n"));
}

// The second list has the block of the third as its items'. A string in a block
// of line 5 has that of the first beside it, and counts there: that is larger.
TEST_F(HeapObjectsTest, WhatLiesBesideAnObjectIsItsOwn) {
  builder_.node(lists_[0]).address = 0x900000;  // no block
  builder_.node(lists_[2]).address = 0x901000;
  const uint32_t text = AddAt("str", 0x109000);
  builder_.Put(app_, builder_.AddText("NEW"), text);
  for (const auto& [node, beside] :
       {std::pair(lists_[1], 0x204000), std::pair(text, 0x202000)}) {
    builder_.node(node).size_bytes = 1100;
    builder_.node(node).beside_bytes = 1000;
    builder_.node(node).beside = static_cast<uint64_t>(beside);
  }
  Write("run.obj-1.pb", builder_.Write());
  const auto rows =
      nlohmann::json::parse(Report({"heap", run_, "--objects", "--json"}).out);
  int found = 0;
  for (const auto& row : rows) {
    if (row["line"] != 6) continue;
    ++found;
    EXPECT_EQ(row["rest_bytes"], 0);
    if (row["type"] == "str") {
      EXPECT_EQ(row["objects_bytes"], 3000);
      EXPECT_EQ(row["objects"], 3);
    } else {
      EXPECT_EQ(row["type"], "list");
      EXPECT_EQ(row["objects_bytes"], 2000);
      EXPECT_EQ(row["objects"], 1);
    }
  }
  EXPECT_EQ(found, 2);
  EXPECT_THAT(Report({"heap", run_, "--objects"}).out,
              HasSubstr("No object explains 120 bytes (2 %): C code has them"));
}

TEST_F(HeapObjectsTest, TheDumpMustBeThereAndOfTheRun) {
  builder_.header().set_pid(5);
  const std::string other = Write("other.pb", builder_.Write());
  const Printed wrong = Report({"heap", run_, "--objects=" + other});
  EXPECT_EQ(wrong.code, kExitUsage);
  EXPECT_THAT(wrong.err, HasSubstr("is of another process than"));
  std::filesystem::remove(dump_);
  const Printed none = Report({"heap", run_, "--objects"});
  EXPECT_EQ(none.code, kExitUsage);
  EXPECT_THAT(none.err, HasSubstr("no dump of the object graph is beside"));
  EXPECT_EQ(Report({"heap", run_, "--objects", "--leaks"}).code, kExitUsage);
  for (const char* option :
       {"--at=1", "--at=peak", "--file=*", "--exclude=*.x", "--sort=live"}) {
    EXPECT_EQ(Report({"heap", run_, "--objects", option}).code, kExitUsage)
        << option;
  }
  const Printed no_run = Report({"heap", "/nowhere.pb", "--objects"});
  EXPECT_EQ(no_run.code, kExitFailed);
  EXPECT_THAT(no_run.err, HasSubstr("/nowhere.pb: No such file or directory"));
}

}  // namespace
}  // namespace pymemrun
