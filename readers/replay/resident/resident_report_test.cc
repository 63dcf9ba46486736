#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/replay/resident/resident_table.h"
#include "readers/report/pymemreport.h"
#include "readers/testing/page_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/small_run_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string Resident(const PageEventsRun& run,
                     std::vector<std::string> options) {
  TempFile file(run.Build());
  options.insert(options.begin(), {"resident", file.path()});
  const Printed printed = Report(options);
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_EQ(printed.err, "");
  return printed.out;
}

TEST(ResidentReportTest, LinesAtThePeak) {
  EXPECT_EQ(Resident({}, {"--csv"}),
            "file,line,function,resident_bytes,pages,share,inferred_bytes\r\n"
            "/job.py,5,load,204800,50,0.500000,0\r\n"
            "/job.py,6,load,122880,30,0.300000,20480\r\n"
            "<before tracing>,,,81920,20,0.200000,0\r\n"
            "unattributed,,,0,0,0.000000,\r\n");
}

// As the answer has it.
TEST(ResidentReportTest, TracingItselfIsNotTheProgramsBefore) {
  PageEventsRun run;
  run.own_bytes = 3 * PageEventsRun::kPage;
  EXPECT_THAT(Resident(run, {"--csv"}),
              HasSubstr("\r\n<before tracing>,,,69632,17,0.170000,0\r\n"
                        "<tracing itself>,,,12288,3,0.030000,0\r\n"));
  run.own_bytes = 1 << 20;  // more than there is
  EXPECT_THAT(Resident(run, {"--csv"}),
              HasSubstr("\r\n<tracing itself>,,,81920,20,0.200000,0\r\n"));
}

TEST(ResidentReportTest, LinesAtTheEnd) {
  EXPECT_EQ(Resident({}, {"--csv", "--at", "exit"}),
            "file,line,function,resident_bytes,pages,share,inferred_bytes\r\n"
            "/job.py,6,load,122880,30,0.491803,20480\r\n"
            "/job.py,5,load,40960,10,0.163934,0\r\n"
            "<before tracing>,,,81920,20,0.327869,0\r\n"
            "unattributed,,,4096,1,0.016393,\r\n");
}

TEST(ResidentReportTest, AMomentInSeconds) {
  EXPECT_THAT(Resident({}, {"--csv", "--at", "0.05", "--by", "function"}),
              HasSubstr("/job.py,3,load,4096,1,"));
  // Also where nothing happened then.
  EXPECT_THAT(Resident({}, {"--at", "0.0501"}), HasSubstr(" at 0.050 s;"));
  EXPECT_THAT(Resident({}, {"--at", "0.123"}), HasSubstr(" at 0.123 s;"));
}

TEST(ResidentReportTest, OtherKindsOfPlaces) {
  EXPECT_THAT(Resident({}, {"--csv", "--by", "thread"}),
              StartsWith("thread,resident_bytes,pages,share,inferred_bytes\r\n"
                         "MainThread#4711,204800,50,0.500000,0\r\n"
                         "worker#4712,122880,30,"));
  EXPECT_THAT(Resident({}, {"--csv", "--by", "file"}),
              HasSubstr("\r\n/job.py,327680,80,0.800000,20480\r\n"));
  EXPECT_THAT(Resident({}, {"--csv", "--by", "module"}),
              HasSubstr("\r\n/usr/bin/python3.11,327680,80,"));
}

TEST(ResidentReportTest, MappingsWithWhatHasNoOwner) {
  EXPECT_EQ(Resident({}, {"--csv", "--by", "mapping", "--at", "exit"}),
            "mapping,resident_bytes,pages,share,inferred_bytes,"
            "unowned_bytes\r\n"
            "<anonymous>,122880,30,0.491803,20480,4096\r\n"
            "/usr/bin/python3.11,81920,20,0.327869,0,0\r\n"
            "[heap],40960,10,0.163934,0,0\r\n"
            "unattributed,4096,1,0.016393,,\r\n");
}

// It came and went between two times that the kernel was asked.
TEST(ResidentReportTest, MappingsThatNoResidencyHasAreAsPageEventsSay) {
  StringSink sink;
  RunBuilder builder(&sink);
  BeginPageRun(&builder);
  const uint32_t shared = builder.AddMapping("/dev/shm/a");
  std::vector<PageEntry> pages = CamePages(100, 1000, 6, 1);
  for (size_t i = 0; i < 4; ++i) pages[i].mapping = shared;
  for (PageEntry& page : pages) page.code_mapping = 0;
  builder.AddPages(pages);
  builder.Flush();
  TempFile file(sink.contents());
  EXPECT_THAT(Report({"resident", file.path(), "--csv", "--by", "mapping"}).out,
              HasSubstr("\r\n/dev/shm/a,16384,4,0.666667,0,0\r\n"
                        "?,8192,2,0.333333,0,0\r\n"));
}

TEST(ResidentReportTest, PlacesThatAreNotListedAreSummedUp) {
  const std::string out = Resident({}, {"--csv", "--limit", "1"});
  EXPECT_THAT(out, HasSubstr("\r\n<other places>,,,122880,30,0.300000,20480"));
  EXPECT_THAT(Resident({}, {"--csv", "--limit", "0"}),
              Not(HasSubstr("other places")));
}

TEST(ResidentReportTest, TextSaysWhatTheBytesAre) {
  const std::string out = Resident({}, {"--at", "exit"});
  EXPECT_THAT(
      out,
      StartsWith(
          "RSS 244.0 KiB at exit, 0.600 s; bytes are charged to the line that "
          "first touched the page\nresident without an owner: 4.0 KiB of "
          "<anonymous>\n"));
  EXPECT_THAT(Resident({}, {}),
              HasSubstr("RSS 400.0 KiB at the peak of RSS, 0.150 s; "));
  EXPECT_THAT(Resident({}, {}), Not(HasSubstr("estimated")));
  PageEventsRun sampled;
  sampled.weight = 4;
  EXPECT_THAT(Resident(sampled, {}),
              HasSubstr("\nestimated: not every page fault was recorded; one "
                        "standard error is shown beside the bytes\n"));
  EXPECT_THAT(Resident(sampled, {"--csv", "--at", "exit"}),
              HasSubstr(",inferred_bytes,error_bytes\r\n"));
  PageEventsRun inferred;
  inferred.period = 16;
  EXPECT_THAT(
      Resident(inferred, {}),
      HasSubstr("\ninferred: in bursts, some pages, chosen at random, are "
                "traced with their own stack; the other pages take their "
                "thread's nearest stack\n"));
}

// What pages are recorded is too little to see where lines change.
TEST(ResidentReportTest, FromALongPeriodOnTheErrorIsALowerBound) {
  for (const uint32_t weight : {10, 30, 100}) {
    Header header;
    header.set_page_period(7);
    header.set_page_weight(weight);
    const std::string text = EstimatedText(header, /*sampled=*/true);
    EXPECT_EQ(text.find("the error is a lower bound\n") == text.npos,
              weight == 10);
  }
}

// Known of line 1, five and four inferred pages, known of line 2. Then ten more
// are line 2's, and the next known one line 1's.
TEST(ResidentReportTest, InferredPagesHaveAnError) {
  StringSink sink;
  RunBuilder builder(&sink);
  Header header = RunBuilder::DefaultHeader();
  header.set_page_period(7);
  header.set_first_rss_bytes(0);
  builder.AddHeader(header);
  builder.AddThread("MainThread", 1);
  const uint32_t code = builder.AddCode("/job.py", "f", 1);
  const uint32_t one = builder.AddStack(0, code, 1);
  const uint32_t two = builder.AddStack(0, code, 2);
  builder.AddResidency(0, 500, 4096, {{10, 1, builder.AddMapping("")}});
  std::vector<PageEntry> pages = CamePages(1000, 100, 22, two);
  for (size_t i = 0; i < 6; ++i) pages[i].stack = one;
  pages[21].stack = one;
  for (size_t i = 0; i < pages.size(); ++i) {
    pages[i].inferred = i != 0 && i != 10 && i != 21;
  }
  builder.AddPages(pages);
  builder.AddProcess(2000, 23 * 4096, 23 * 4096);
  builder.Flush();
  TempFile file(sink.contents());
  // The root of 2 x 4 x 4 pages.
  const std::string error = ",23170\r\n";
  const auto by = [&](const char* what) {
    return Report(
               {"resident", file.path(), "--at", "exit", "--csv", "--by", what})
        .out;
  };
  const std::string lines = by("line");
  EXPECT_THAT(lines, HasSubstr(",error_bytes\r\n"));
  EXPECT_THAT(lines, HasSubstr("/job.py,1,f,28672,7,"));
  EXPECT_THAT(lines, HasSubstr(",20480" + error));
  EXPECT_THAT(lines, HasSubstr(",57344" + error));
  // One function touched them all. Nor is the thread in doubt.
  EXPECT_THAT(by("function"), HasSubstr("/job.py,1,f,90112,22,"));
  EXPECT_THAT(by("function"), HasSubstr(",77824,0\r\n"));
  EXPECT_THAT(by("thread"), Not(HasSubstr("error_bytes")));
}

TEST(ResidentReportTest, Json) {
  const auto json = nlohmann::json::parse(Resident({}, {"--json"}));
  ASSERT_EQ(json.size(), 4u);
  EXPECT_EQ(json[0]["resident_bytes"], 204800);
  EXPECT_EQ(json[3]["file"], "unattributed");
  EXPECT_TRUE(json[3]["inferred_bytes"].is_null());
}

TEST(ResidentReportTest, AllRowsAddUpToRss) {
  for (const char* by : {"line", "function", "file", "thread", "module"}) {
    for (const char* at : {"peak", "exit", "0.0503", "0.4"}) {
      int64_t sum = 0;
      for (const auto& row : nlohmann::json::parse(
               Resident({}, {"--json", "--by", by, "--at", at}))) {
        sum += row["resident_bytes"].get<int64_t>();
      }
      const int64_t pages = at[0] == 'p'   ? 100
                            : at[0] == 'e' ? 61
                            : at[2] == '0' ? 51
                                           : 60;
      EXPECT_EQ(sum, pages * 4096) << by << " " << at;
    }
  }
}

TEST(ResidentReportTest, StacksAreAnIndentedTree) {
  const std::string out = Resident({}, {"--stacks"});
  const std::vector<std::string> lines = absl::StrSplit(out, '\n');
  // What is unattributed is less than can be known.
  ASSERT_EQ(lines.size(), 8u) << out;
  EXPECT_EQ(lines[1], " resident       self   share  frame");
  EXPECT_EQ(lines[2], "320.0 KiB    0 bytes  80.0 %  <module> (/job.py:9)");
  EXPECT_EQ(lines[3], "200.0 KiB  200.0 KiB  50.0 %    load (/job.py:5)");
  EXPECT_EQ(lines[4], "120.0 KiB  120.0 KiB  30.0 %    load (/job.py:6)");
  EXPECT_EQ(lines[5], " 80.0 KiB    0 bytes  20.0 %  <before tracing>");
  EXPECT_EQ(lines[6], " 80.0 KiB   80.0 KiB  20.0 %    /usr/bin/python3.11");
}

TEST(ResidentReportTest, StacksForMachines) {
  EXPECT_EQ(Resident({}, {"--stacks", "--csv", "--by", "function"}),
            "depth,file,line,function,resident_bytes,self_bytes,share\r\n"
            "0,/job.py,1,<module>,327680,0,0.800000\r\n"
            "1,/job.py,3,load,327680,327680,0.800000\r\n"
            "0,<before tracing>,,,81920,0,0.200000\r\n"
            "1,/usr/bin/python3.11,,,81920,81920,0.200000\r\n"
            "0,unattributed,,,0,0,0.000000\r\n");
}

TEST(ResidentReportTest, LimitedStacksKeepTheCallers) {
  EXPECT_EQ(Resident({}, {"--stacks", "--csv", "--limit", "2"}),
            "depth,file,line,function,resident_bytes,self_bytes,share\r\n"
            "0,/job.py,9,<module>,327680,0,0.800000\r\n"
            "1,/job.py,5,load,204800,204800,0.500000\r\n"
            "0,unattributed,,,0,0,0.000000\r\n");
}

TEST(ResidentReportTest, CollapsedStacks) {
  EXPECT_EQ(Resident({}, {"--collapsed", "--at", "exit"}),
            "<module> (/job.py:9);load (/job.py:6) 122880\n"
            "<module> (/job.py:9);load (/job.py:5) 40960\n"
            "<before tracing>;/usr/bin/python3.11 81920\n"
            "unattributed 4096\n");
  EXPECT_THAT(Resident({}, {"--collapsed", "--by", "thread"}),
              HasSubstr("worker#4712;<module> (/job.py:9);load (/job.py:6) "));
}

TEST(ResidentReportTest, HostileNamesAreEscaped) {
  PageEventsRun run;
  run.file = "=1;\x1b[2J\n\"x\".py";
  run.load = "lo;ad\xff";
  EXPECT_THAT(Resident(run, {"--csv"}), HasSubstr("\"'=1;\\x1b[2J\n\"\"x\"\""));
  EXPECT_THAT(Resident(run, {}), HasSubstr("=1;\\x1b[2J\\x0a\"x\".py"));
  const std::string collapsed = Resident(run, {"--collapsed"});
  EXPECT_THAT(collapsed, HasSubstr(";lo\\x3bad\\xff (=1\\x3b\\x1b[2J\\x0a"));
  EXPECT_THAT(Resident(run, {"--stacks"}), Not(HasSubstr("\x1b")));
}

TEST(ResidentReportTest, OfADamagedFileItIsNotSaidThatItHasNone) {
  StringSink sink;
  RunBuilder builder(&sink);
  builder.AddHeader(RunBuilder::DefaultHeader());
  builder.Flush();
  const size_t first_frame_bytes = sink.contents().size();
  builder.AddThread("MainThread", 1);
  builder.Flush();
  TempFile file(sink.contents().substr(0, first_frame_bytes + 10));
  const Printed printed = Report({"resident", file.path()});
  EXPECT_EQ(printed.code, 0);  // cut off, as a run that was killed
  EXPECT_THAT(printed.err,
              HasSubstr(": no page events in the part that could be read"));
  EXPECT_THAT(printed.err, Not(HasSubstr("record them")));
}

TEST(ResidentReportTest, ARunWithoutPageEventsIsNamed) {
  TempFile file(SmallRun().Build());
  for (const char* at : {"peak", "exit"}) {
    const Printed printed = Report({"resident", file.path(), "--at", at});
    EXPECT_EQ(printed.code, 2);
    EXPECT_EQ(printed.out, "");
    EXPECT_EQ(printed.err,
              "pymemreport: " + file.path() +
                  ": has no page events: record them with pymemrun --trace "
                  "pages\n");
  }
}

TEST(ResidentReportTest, DamageIsToldOnceAndTheRestIsShown) {
  std::string bytes = PageEventsRun().Build();
  bytes += "garbage that is no frame";
  TempFile file(bytes);
  const Printed printed = Report({"resident", file.path(), "--csv"});
  EXPECT_EQ(printed.code, 1);
  EXPECT_THAT(printed.out, HasSubstr("/job.py,5,load,204800,"));
  const std::vector<std::string> lines = absl::StrSplit(printed.err, '\n');
  EXPECT_EQ(lines.size(), 2u) << printed.err;
}

TEST(ResidentReportTest, UsageErrors) {
  TempFile file(PageEventsRun().Build());
  const struct {
    std::vector<std::string> options;
    const char* expected;
  } kCases[] = {
      {{"--at", "noon"}, "found 'noon'; the run has no marks"},
      {{"--at", "-1"}, "or a mark's label, found '-1'; the run has no marks"},
      {{"--at", "0.7"}, "0.700 s is after the run's end, 0.600 s"},
      {{"--at", "heap-peak"}, "heap-peak: the run has no heap events"},
      {{"--at", "200%"},
       "--at: expected a share from 0% to 100%, found '200%'"},
      {{"--by", "color"}, "module or package, found 'color'"},
      {{"--owner", "heap", "--by", "mapping"},
       "--by mapping does not go with --owner heap"},
      {{"--owner", "me"}, "--owner: expected touch or heap, found 'me'"},
      {{"--stacks", "--collapsed"}, "--stacks does not go with --collapsed"},
      {{"--stacks", "--by", "mapping"},
       "--by mapping does not go with --stacks"},
      {{"--collapsed", "--csv"}, "--csv does not go with --collapsed"},
  };
  for (const auto& test : kCases) {
    std::vector<std::string> arguments = {"resident", file.path()};
    arguments.insert(arguments.end(), test.options.begin(), test.options.end());
    const Printed printed = Report(arguments);
    EXPECT_EQ(printed.code, 2) << test.expected;
    EXPECT_THAT(printed.err, HasSubstr(test.expected));
  }
  EXPECT_EQ(Report({"resident", "/nowhere.pb"}).code, 1);
}

TEST(ResidentReportTest, OtherThreadsAreOneRow) {
  EXPECT_EQ(Resident({}, {"--csv", "--thread", "worker"}),
            "file,line,function,resident_bytes,pages,share,inferred_bytes\r\n"
            "/job.py,6,load,122880,30,0.300000,20480\r\n"
            "<other threads>,,,204800,50,0.500000,0\r\n"
            "<before tracing>,,,81920,20,0.200000,0\r\n"
            "unattributed,,,0,0,0.000000,\r\n");
  EXPECT_EQ(Resident({}, {"--collapsed", "--thread", "4712"}),
            "<other threads> 204800\n"
            "<module> (/job.py:9);load (/job.py:6) 122880\n"
            "<before tracing>;/usr/bin/python3.11 81920\n");
  // By mapping, too.
  const std::string mappings =
      Resident({}, {"--csv", "--by", "mapping", "--thread", "worker"});
  EXPECT_THAT(mappings, HasSubstr("\r\n<other threads>,204800,50,"));
  EXPECT_THAT(mappings, HasSubstr("\r\n<before tracing>,81920,20,"));
}

TEST(ResidentReportTest, OtherThreadsHaveTheErrorOfTheirOwn) {
  PageEventsRun run;
  run.period = 4;
  run.weight = 4;
  const auto error = [&run](const std::string& thread) {
    TempFile file(run.Build());
    const Printed printed =
        Report({"resident", file.path(), "--json", "--thread", thread});
    for (const auto& row : nlohmann::json::parse(printed.out)) {
      if (row["file"] == "<other threads>") return row["error_bytes"].dump();
    }
    return std::string("none");
  };
  // The page with a weight is of the main thread.
  EXPECT_NE(error("worker"), "0");
  EXPECT_EQ(error("MainThread"), "0");
}

TEST(ResidentReportTest, TimelineOfOneThread) {
  TempFile file(PageEventsRun().Build());
  const Printed printed = Report(
      {"timeline", file.path(), "--format", "csv", "--thread", "worker"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_EQ(CsvLines(printed)[0],
            "time_s,rss_bytes,/job.py:6 load,other places,<before tracing>,"
            "unattributed");
  EXPECT_THAT(printed.out, HasSubstr("0.201000,409600,122880,204800,81920,0"));
  const Printed files = Report(
      {"timeline", file.path(), "--format", "csv", "--exclude", "job.py"});
  EXPECT_EQ(CsvLines(files)[0],
            "time_s,rss_bytes,other places,<before tracing>,unattributed");
  EXPECT_EQ(Report({"timeline", file.path(), "--thread", "x"}).code, 2);
  EXPECT_EQ(
      Report({"timeline", file.path(), "--by", "thread", "--file", "x"}).code,
      2);
}

}  // namespace
}  // namespace pymemrun
