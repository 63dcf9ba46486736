#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/pictures/chart/flame_graph.h"
#include "readers/report/pymemreport.h"
#include "readers/testing/heap_run_for_tests.h"
#include "readers/testing/program_test_util.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Flame(const HeapRun& run, std::vector<std::string> options) {
  TempFile file(run.Build());
  options.insert(options.begin(), {"flame", file.path()});
  const Printed printed = RunProgram("pymemreport", [&](const Console& c) {
    return RunPymemreport(options, c);
  });
  EXPECT_EQ(printed.code, 0) << printed.err;
  return printed.out;
}

// Begin, width and depth of a frame, as the script reads them.
std::string FrameOf(const std::string& svg, const std::string& label) {
  const size_t title = svg.find("\"><title>" + label + "\n");
  if (title == std::string::npos) return "none";
  const size_t begin = svg.rfind("data-x", title);
  return svg.substr(begin, title - begin);
}

TEST(HeapFlameTest, FramesAreAsWideAsTheirBytes) {
  const std::string svg = Flame({}, {});
  EXPECT_EQ(FrameOf(svg, "all"),
            "data-x=\"0\" data-w=\"1\" data-d=\"0\" data-b=\"6120");
  EXPECT_EQ(FrameOf(svg, "&lt;module&gt; (/job.py:9)"),
            "data-x=\"0\" data-w=\"0.9803921569\" data-d=\"1\" data-b=\"6000");
  EXPECT_EQ(FrameOf(svg, "load (/job.py:5)"),
            "data-x=\"0.8169934641\" data-w=\"0.1633986928\" data-d=\"2\" "
            "data-b=\"1000");
  EXPECT_THAT(svg, HasSubstr("<title>load (/job.py:6)\n4.9 KiB in 5 blocks, "
                             "81.70 %</title>"));
  EXPECT_THAT(svg, HasSubstr(">Live bytes of job.py at the peak of live bytes "
                             "(RSS was not read), 0.003 s</text>"));
}

TEST(HeapFlameTest, PlacesAreShownShortAndWhole) {
  const std::string svg = Flame({}, {});
  EXPECT_THAT(svg, HasSubstr(">load (job.py:6)</text>"));
  EXPECT_THAT(svg, HasSubstr("data-s=\"load (job.py:5)\""));
  EXPECT_THAT(svg, Not(HasSubstr("..</text>")));
}

TEST(HeapFlameTest, Inverted) {
  const std::string svg = Flame({}, {"--inverted", "--at", "exit"});
  EXPECT_EQ(FrameOf(svg, "load (/job.py:6)"),
            "data-x=\"0.4716981132\" data-w=\"0.4716981132\" data-d=\"1\" "
            "data-b=\"1000");
  EXPECT_THAT(FrameOf(svg, "&lt;module&gt; (/job.py:9)"),
              HasSubstr("data-d=\"2\""));
}

TEST(HeapFlameTest, ByThread) {
  EXPECT_THAT(FrameOf(Flame({}, {"--by-thread"}), "worker#4712"),
              HasSubstr("data-d=\"1\" data-b=\"5000"));
}

TEST(HeapFlameTest, NothingAliveIsAPictureToo) {
  EXPECT_THAT(FrameOf(Flame({}, {"--at", "0"}), "all"),
              HasSubstr("data-b=\"0"));
}

TEST(HeapFlameTest, NamesAreEscaped) {
  HeapRun run;
  run.load = "</title><script>alert(1)</script>\x01]]>";
  const std::string svg = Flame(run, {});
  EXPECT_THAT(svg, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(svg, Not(HasSubstr("\x01")));
}

TEST(HeapFlameTest, NothingElseIsNeeded) {
  const std::string svg = Flame({}, {});
  EXPECT_THAT(svg, Not(HasSubstr("href")));
  EXPECT_THAT(svg, Not(HasSubstr("url(")));
  EXPECT_THAT(svg, Not(HasSubstr("src=")));
}

}  // namespace
}  // namespace pymemrun
