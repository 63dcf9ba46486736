#include "readers/replay/heap_in_rss/heap_timeline.h"

#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/report/pymemreport.h"
#include "readers/testing/heap_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"
#include "readers/testing/small_run_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr uint64_t kMib = 1 << 20;

// 1 MiB of Python's from 1 s on, 2 MiB of malloc from 2 s on, both freed at
// 3 s; RSS is read at 0, 1.5 and 2.5 s, and stands in a row at 3 s.
std::string Run(bool is_native = false) {
  StringSink sink;
  RunBuilder builder(&sink);
  Header header = RunBuilder::DefaultHeader();
  header.set_heap(HEAP_ALL);
  header.set_heap_native(is_native);
  header.set_script("/src/job.py");
  header.set_first_rss_bytes(8 * kMib);
  builder.AddHeader(header);
  builder.AddThread("MainThread", 4711);
  const uint32_t code = builder.AddCode("/job.py", "f", 1);
  builder.AddStack(0, code, 2);
  const uint32_t site = builder.AddSite(CALL, code, 2);
  HeapEvent native = AllocEvent(2000000, 64 * kMib, 2 * kMib, 1);
  native.allocator = HEAP_MALLOC;
  builder.AddHeap({AllocEvent(1000000, 32 * kMib, kMib, 1), native});
  builder.AddProcess(1500000, 9 * kMib, 9 * kMib);
  builder.AddProcess(2500000, 11 * kMib, 11 * kMib);
  builder.AddHeap(
      {FreeEvent(3000000, 32 * kMib), FreeEvent(3000000, 64 * kMib)});
  builder.AddRow(
      MakeRow(7, 3000000, site, 10 * kMib, -static_cast<int64_t>(kMib)));
  builder.Flush();
  Record record;
  record.mutable_footer()->set_end_us(4000000);
  builder.AddRecord(record);
  builder.Flush();
  return sink.contents();
}

Printed Timeline(std::vector<std::string> options, bool is_native = false) {
  TempFile file(Run(is_native));
  options.insert(options.begin(), {"timeline", file.path(), "--by", "heap"});
  return RunProgram("pymemreport", [&](const Console& console) {
    return RunPymemreport(options, console);
  });
}

std::string LineAt(const std::string& csv, const std::string& time) {
  for (const auto line : absl::StrSplit(csv, "\r\n")) {
    if (line.substr(0, time.size() + 1) == time + ",") return std::string(line);
  }
  return "none";
}

TEST(HeapTimelineTest, LiveBytesAndTheRestAddUpToRss) {
  const Printed printed = Timeline({"--format", "csv"});
  EXPECT_EQ(printed.err, "");
  EXPECT_EQ(printed.out.substr(0, printed.out.find('\r')),
            "time_s,rss_bytes,python_bytes,native_bytes,tracing_bytes,"
            "rest_bytes");
  EXPECT_EQ(LineAt(printed.out, "0.500000"),
            "0.500000,8388608,0,0,1048576,7340032");
  EXPECT_EQ(LineAt(printed.out, "1.600000"),
            "1.600000,9437184,1048576,0,1048576,7340032");
  EXPECT_EQ(LineAt(printed.out, "2.600000"),
            "2.600000,11534336,1048576,2097152,1048576,7340032");
  EXPECT_EQ(LineAt(printed.out, "3.500000"),
            "3.500000,10485760,0,0,1048576,9437184");
}

TEST(HeapTimelineTest, Picture) {
  const std::string svg = Timeline({}, /*is_native=*/true).out;
  EXPECT_THAT(svg, HasSubstr(">RSS and the heap of job.py</text>"));
  EXPECT_THAT(svg, HasSubstr("Python&#39;s live blocks, bytes asked for"));
  EXPECT_THAT(svg, HasSubstr("peak 2.0 MiB"));
  EXPECT_THAT(svg, HasSubstr(">11.0 MiB at 2.500 s</text>"));
  EXPECT_THAT(svg, HasSubstr(">native live blocks, bytes asked for</text>"));
  EXPECT_THAT(Timeline({}).out, Not(HasSubstr("native")));
  EXPECT_THAT(svg, HasSubstr("</svg>\n"));
}

TEST(HeapTimelineTest, NeedsHeapEvents) {
  TempFile file(SmallRun().Build());
  const Printed printed = RunProgram("pymemreport", [&](const Console&
                                                            console) {
    return RunPymemreport({"timeline", file.path(), "--by", "heap"}, console);
  });
  EXPECT_EQ(printed.code, 2);
  EXPECT_EQ(printed.out, "");
  EXPECT_THAT(printed.err, HasSubstr(": has no heap events: "));
}

}  // namespace
}  // namespace pymemrun
