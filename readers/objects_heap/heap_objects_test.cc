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

// Of a HeapRun: sys.modules' app.CACHE holds eight of the blocks of line 5 as
// strings, one is nobody's, and one is no object. Line 6 has five: two strings
// of CACHE, and three lists, each of a name of its own.
class HeapObjectsTest : public testing::Test {
 protected:
  HeapObjectsTest() {
    const uint32_t modules = builder_.AddGroup("modules");
    const uint32_t lost = builder_.AddGroup("gc tracked, not reached");
    const uint32_t sys_modules = builder_.Add("dict", 1000);
    const uint32_t module = builder_.Add("module", 72, "app");
    const uint32_t app = builder_.Add("dict", 500);
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
      builder_.Put(app, builder_.AddText("LIST" + std::to_string(i)),
                   AddAt("list", 0x200000 + i * 4096));
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
};

TEST_F(HeapObjectsTest, LinesHaveTypesAndHolders) {
  const Printed printed = Report({"heap", run_, "--objects", "--csv"});
  EXPECT_EQ(printed.code, kExitOk) << printed.err;
  EXPECT_THAT(
      CsvLines(printed),
      ElementsAre("file,line,function,live_bytes,type,objects_bytes,objects,"
                  "holder,holder_type,holder_bytes,rest_bytes",
                  "/job.py,6,load,5000,list,3000,3,sys.modules['app'].LIST2,"
                  "list,1000,0",
                  "/job.py,6,load,5000,str,2000,2,sys.modules['app'].CACHE,"
                  "list,2000,0",
                  "/job.py,5,load,1000,str,800,8,sys.modules['app'].CACHE,list,"
                  "800,100",
                  "/job.py,5,load,1000,app.Node,100,1,\"gc tracked, not "
                  "reached\",<group>,100,100",
                  "<frozen importlib._bootstrap>,101,_find,70,,,,,,,70",
                  ",,<interpreter>,50,,,,,,,50"));
}

TEST_F(HeapObjectsTest, AsTextItFitsATerminal) {
  const Printed printed = Report({"heap", run_, "--objects", "--limit", "2"});
  EXPECT_THAT(printed.out, HasSubstr("live 6.0 KiB in 17 blocks at the dump, "
                                     "0.004 s\n"));
  EXPECT_THAT(printed.out, HasSubstr("2.9 KiB  3 list, held by several\n"));
  EXPECT_THAT(
      printed.out,
      HasSubstr("800 bytes  8 str, held by sys.modules['app'].CACHE\n"));
  EXPECT_THAT(printed.out, HasSubstr("100 bytes  1 app.Node, by no root: "
                                     "garbage, or C code holds it\n"));
  EXPECT_THAT(printed.out, HasSubstr("100 bytes  without an object\n"));
  EXPECT_THAT(printed.out, Not(HasSubstr("interpreter")));
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
  const std::string run =
      Write("run.pb", HeapRun{HEAP_SAMPLED, 1000}.Build());
  // Blocks of 1,000 bytes are recorded with p = 1 - 1/e: three stand for 4.75,
  // with a standard error of sqrt(3 (1 - p)) / p = 1.66.
  const Printed table = Report({"heap", run, "--objects", "--csv"});
  EXPECT_THAT(CsvLines(table),
              Contains("/job.py,6,load,7910,list,4746,5,sys.modules['app']."
                       "LIST2,list,1582,0,1662,2"));
  const Printed printed = Report({"heap", run, "--objects"});
  EXPECT_THAT(printed.out, HasSubstr("4.6 KiB ±1.6 KiB  5 list, held by "));
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
  EXPECT_THAT(none.err, HasSubstr("no dump of the object graph lies beside"));
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
