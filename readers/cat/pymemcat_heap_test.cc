// What pymemcat prints of heap events.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/testing/heap_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"
#include "readers/testing/small_run_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::SizeIs;

Printed CatHeapRun(std::vector<std::string> arguments,
                   const std::string& run = HeapRun().Build()) {
  TempFile file(run);
  arguments.insert(arguments.begin(), file.path());
  const Printed printed = Cat(arguments);
  EXPECT_EQ(printed.code, 0) << printed.err;
  return printed;
}

TEST(PymemcatHeapTest, ArePrintedOnlyIfAskedFor) {
  EXPECT_THAT(CsvLines(CatHeapRun({"--csv"})), SizeIs(1));
}

TEST(PymemcatHeapTest, AsCsv) {
  const auto lines = CsvLines(CatHeapRun({"--csv", "--records", "heap"}));
  ASSERT_THAT(lines, SizeIs(1 + 29));
  EXPECT_THAT(lines[0],
              EndsWith(",rss_exact,address,size_bytes,allocator,weight,"
                       "caller_module,thread_drss_bytes"));
  EXPECT_EQ(lines[1],
            ",,0.001000,ALLOC,/job.py,5,load,,,MainThread#4711,4711,,mod,,"
            "0x100000,100,obj,1,,");
  EXPECT_EQ(lines[11],
            ",,0.002000,ALLOC,/job.py,6,load,,,worker#4712,4711,,mod,,"
            "0x200000,1000,mem,1,,");
  EXPECT_EQ(lines[29],
            ",,0.007000,FREE,,,,,,MainThread#4711,4711,,,,0x999000,,,,,");
}

TEST(PymemcatHeapTest, ASampleHasTheWeightOfItsRates) {
  HeapRun run;
  run.mode = HEAP_SAMPLED;
  run.mean_bytes = 100;
  const auto lines = CsvLines(CatHeapRun(
      {"--csv", "--no-header", "--records", "heap", "--columns", "what,weight"},
      run.Build()));
  EXPECT_EQ(lines[0], "ALLOC,1.581976707");  // 1 / (1 - exp(-1))
  EXPECT_EQ(lines[28], "FREE,");
}

TEST(PymemcatHeapTest, AsJsonLines) {
  const Printed printed = CatHeapRun({"--jsonl", "--records", "calls,heap"});
  const auto first =
      nlohmann::json::parse(printed.out.substr(0, printed.out.find('\n')));
  EXPECT_EQ(first["what"], "ALLOC");
  EXPECT_EQ(first["address"], "0x100000");
  EXPECT_EQ(first["size_bytes"], 100);
  EXPECT_EQ(first["allocator"], "obj");
  EXPECT_EQ(first["weight"], 1.0);
  EXPECT_TRUE(first["event"].is_null());
  const size_t last_begin = printed.out.rfind('\n', printed.out.size() - 2);
  const auto last = nlohmann::json::parse(printed.out.substr(last_begin + 1));
  EXPECT_EQ(last["what"], "FREE");
  EXPECT_TRUE(last["file"].is_null());
  EXPECT_TRUE(last["line"].is_null());
  EXPECT_TRUE(last["size_bytes"].is_null());
  EXPECT_TRUE(last["weight"].is_null());
}

TEST(PymemcatHeapTest, AsText) {
  const std::string out = CatHeapRun({"--records", "heap"}).out;
  EXPECT_THAT(out,
              HasSubstr(" Address                Size Allocator Weight       "
                        "Called from"));
  EXPECT_THAT(out,
              HasSubstr("\nHEAP:                      0.001000     ALLOC"));
  EXPECT_THAT(out, HasSubstr(" 0x100000                100 obj       1"));
  EXPECT_THAT(out, HasSubstr(" Clock        Thread "));  // there are two
}

TEST(PymemcatHeapTest, AreFiltered) {
  const auto count = [](std::vector<std::string> options) {
    options.insert(options.end(),
                   {"--csv", "--no-header", "--records", "heap"});
    return CsvLines(CatHeapRun(options)).size();
  };
  EXPECT_EQ(count({"--thread", "worker"}), 5u);
  EXPECT_EQ(count({"--function", "load"}), 18u);  // frees have no place
  EXPECT_EQ(count({"--file", "*.c"}), 0u);
  EXPECT_EQ(count({"--from", "0.005"}), 11u);
  EXPECT_EQ(count({"--to", "0.001001"}), 2u);
  EXPECT_EQ(count({"--what", "call"}), 0u);
  EXPECT_EQ(count({"--what", "alloc"}), 21u);
  EXPECT_EQ(count({"--what", "free"}), 8u);
}

TEST(PymemcatHeapTest, OfSeveralFilesAreMergedByTime) {
  TempFile first(HeapRun().Build()), second(HeapRun().Build());
  const auto lines =
      CsvLines(Cat({first.path(), second.path(), "--csv", "--no-header",
                    "--records", "heap", "--columns", "clock_s,what,address"}));
  ASSERT_THAT(lines, SizeIs(2 * 29));
  EXPECT_EQ(lines[0], "0.001000,ALLOC,0x100000");
  EXPECT_EQ(lines[1], "0.001000,ALLOC,0x100000");
  EXPECT_EQ(lines[57], "0.007000,FREE,0x999000");
}

TEST(PymemcatHeapTest, TheirColumnsStandBehindThoseOfPages) {
  const auto lines =
      CsvLines(CatHeapRun({"--csv", "--records", "calls,pages,heap"}));
  EXPECT_THAT(lines[0], EndsWith(",inferred,instruction_module,address,"
                                 "size_bytes,allocator,weight,caller_module,"
                                 "thread_drss_bytes"));
  EXPECT_THAT(lines[1], EndsWith(",mod,,,,,,,,0x100000,100,obj,1,,"));
}

TEST(PymemcatHeapTest, TheFileThatCalledMallocIsNamed) {
  StringSink sink;
  RunBuilder builder(&sink);
  BeginHeapRun(&builder);
  Record record;
  record.mutable_mapping()->set_id(1);
  record.mutable_mapping()->set_name("/lib/x.so");
  builder.AddRecord(record);
  HeapEvent event = AllocEvent(1, 0x10, 5, 0);
  event.allocator = HEAP_MALLOC;
  event.code = 1;
  builder.AddHeap({event, FreeEvent(2, 0x10)});
  builder.Flush();
  const Printed printed =
      CatHeapRun({"--csv", "--no-header", "--records", "heap", "--columns",
                  "allocator,caller_module"},
                 sink.contents());
  EXPECT_THAT(CsvLines(printed), ElementsAre("malloc,/lib/x.so", ","));
}

TEST(PymemcatHeapTest, ARunWithoutThemIsNamed) {
  TempFile file(SmallRun().Build()), other(HeapRun().Build());
  const std::string begin =
      absl::StrCat("pymemcat: ", file.path(), ": has no ");
  for (const std::vector<std::string>& files :
       {std::vector<std::string>{file.path()}, {other.path(), file.path()}}) {
    std::vector<std::string> arguments = files;
    arguments.insert(arguments.end(), {"--records", "calls,heap"});
    Printed printed = Cat(arguments);
    EXPECT_EQ(printed.code, 0);
    EXPECT_EQ(
        printed.err,
        begin +
            "heap events: record them with pymemrun --heap sampled or all\n");
  }
  const Printed printed = Cat({file.path(), "--records", "pages"});
  EXPECT_EQ(printed.code, 0);
  EXPECT_EQ(printed.err,
            begin +
                "page faults: record them with pymemrun --trace pages "
                "--page-source faults\n");
  EXPECT_EQ(Cat({file.path()}).err, "");
}

TEST(PymemcatHeapTest, RecordsAreOneList) {
  const Printed printed =
      Cat({"run.pb", "--records", "calls", "--records", "heap"});
  EXPECT_EQ(printed.code, 2);
  EXPECT_EQ(
      printed.err,
      "pymemcat: --records: is given more than once (see pymemcat --help)\n");
}

TEST(PymemcatHeapTest, RawTakesNoRecords) {
  TempFile file(HeapRun().Build());
  EXPECT_EQ(Cat({file.path(), "--raw", "--records", "calls,marks,heap"}).code,
            2);
}

TEST(PymemcatHeapTest, StacksAreWritten) {
  const auto lines =
      CsvLines(CatHeapRun({"--csv", "--no-header", "--records", "heap",
                           "--columns", "address,stack", "--to", "0.001"}));
  EXPECT_THAT(lines, ElementsAre("0x100000,/job.py:9:<module>;/job.py:5:load"));
}

}  // namespace
}  // namespace pymemrun
