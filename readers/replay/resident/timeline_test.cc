#include "readers/replay/resident/timeline.h"

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/pictures/chart/svg_plot.h"
#include "readers/report/pymemreport.h"
#include "readers/testing/page_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"
#include "readers/testing/small_run_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Printed TimelineOf(const std::string& run, std::vector<std::string> options) {
  TempFile file(run);
  options.insert(options.begin(), {"timeline", file.path()});
  return RunProgram("pymemreport", [&](const Console& console) {
    return RunPymemreport(options, console);
  });
}

std::string Drawn(const PageEventsRun& run,
                  std::vector<std::string> options = {}) {
  const Printed printed = TimelineOf(run.Build(), std::move(options));
  EXPECT_EQ(printed.code, 0) << printed.err;
  return printed.out;
}

std::vector<std::vector<std::string>> Rows(const Printed& csv) {
  std::vector<std::vector<std::string>> rows;
  for (const std::string& line : CsvLines(csv)) {
    rows.push_back(absl::StrSplit(line, ','));
  }
  return rows;
}

// What is wrong with the nesting of elements; empty: nothing. Text must be
// escaped.
std::string XmlFault(absl::string_view xml) {
  std::vector<std::string> open;
  while (!xml.empty()) {
    const size_t at = xml.find('<');
    const absl::string_view text = xml.substr(0, at);
    if (text.find('>') != text.npos) return "a > outside an element";
    for (size_t amp = text.find('&'); amp != text.npos;
         amp = text.find('&', amp + 1)) {
      if (text.find(';', amp) == text.npos) return "a bare &";
    }
    if (at == xml.npos) break;
    const size_t end = xml.find('>', at);
    if (end == xml.npos) return "an open <";
    const absl::string_view tag = xml.substr(at + 1, end - at - 1);
    xml.remove_prefix(end + 1);
    if (tag[0] == '?' || tag.back() == '/') continue;
    const std::string name(tag.substr(0, tag.find_first_of(" \n")));
    if (tag[0] != '/') {
      open.push_back(name);
    } else if (open.empty() || "/" + open.back() != name) {
      return "closed wrongly: " + name;
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : "not closed: " + open.back();
}

TEST(TimelineTest, CsvHasAColumnForEachSeries) {
  const auto rows =
      Rows(TimelineOf(PageEventsRun().Build(), {"--format", "csv"}));
  EXPECT_THAT(rows[0], ElementsAre("time_s", "rss_bytes", "/job.py:5 load",
                                   "/job.py:6 load", "other places",
                                   "<before tracing>", "unattributed"));
  EXPECT_EQ(rows.size(), 1u + 401 + 1);  // with the peak
  EXPECT_THAT(rows.back(), ElementsAre("0.600000", "249856", "40960", "122880",
                                       "0", "81920", "4096"));
}

TEST(TimelineTest, APartOfARunHasItsOwnPeak) {
  const std::string run = PageEventsRun().Build();
  // 20 pages before, 50 that came. The other 30 come later.
  const Printed part = TimelineOf(run, {"--from", "10ms", "--to", "100ms"});
  EXPECT_EQ(part.code, 0) << part.err;
  EXPECT_THAT(part.out, HasSubstr("280.0 KiB at 0.050 s"));
  const auto rows = Rows(
      TimelineOf(run, {"--format", "csv", "--from", "10ms", "--to", "100ms"}));
  ASSERT_GT(rows.size(), 400u);
  EXPECT_EQ(rows[1][0], "0.010000");
  EXPECT_EQ(rows[1][1], "81920");
  EXPECT_EQ(rows.back()[0], "0.100000");
  EXPECT_EQ(rows.back()[1], "286720");
  EXPECT_EQ(TimelineOf(run, {"--from", "0.9"}).code, 2);
  EXPECT_THAT(TimelineOf(run, {"--from", "0.9"}).err,
              HasSubstr(": --from: 0.900 s is not before the run's end, "));
  EXPECT_THAT(TimelineOf(run, {"--file", "other.py"}).err,
              HasSubstr(": --file 'other.py' leaves no place; --by "
                        "library-line "));
  EXPECT_THAT(TimelineOf(run, {"--from", "0.2", "--to", "0.1"}).err,
              HasSubstr("--to: expected a moment after --from, found '"));
  EXPECT_EQ(TimelineOf(run, {"--from", "0.2", "--by", "heap"}).code, 2);
}

TEST(TimelineTest, SeriesAddUpToRssAtEveryStep) {
  for (const char* by : {"line", "function", "file", "thread"}) {
    for (const char* top : {"1", "8"}) {
      const auto rows =
          Rows(TimelineOf(PageEventsRun().Build(),
                          {"--format", "csv", "--by", by, "--top", top}));
      bool peak_seen = false;
      for (size_t r = 1; r < rows.size(); ++r) {
        int64_t sum = 0;
        for (size_t i = 2; i < rows[r].size(); ++i) sum += stoll(rows[r][i]);
        EXPECT_EQ(sum, stoll(rows[r][1])) << by << " row " << r;
        peak_seen |= sum == 100 * 4096;
      }
      EXPECT_TRUE(peak_seen);
    }
  }
}

TEST(TimelineTest, PlacesBelowTheTopAreOthers) {
  const auto rows = Rows(
      TimelineOf(PageEventsRun().Build(), {"--format", "csv", "--top", "1"}));
  EXPECT_THAT(rows[0],
              ElementsAre("time_s", "rss_bytes", "/job.py:5 load",
                          "other places", "<before tracing>", "unattributed"));
  EXPECT_EQ(rows.back()[3], "122880");
}

TEST(TimelineTest, SvgIsWellFormedAndNamesWhatItShows) {
  const std::string svg = Drawn({});
  EXPECT_EQ(XmlFault(svg), "");
  EXPECT_THAT(svg, StartsWith("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                              "<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_THAT(svg, HasSubstr("<title>Resident memory of job.py</title>"));
  EXPECT_THAT(svg, HasSubstr(">400.0 KiB at 0.150 s</text>"));
  EXPECT_THAT(svg, HasSubstr(">job.py:5 load</text>"));
  EXPECT_THAT(svg, HasSubstr("<title>/job.py:5 load</title>"));
  EXPECT_THAT(svg, HasSubstr(">peak 200.0 KiB</text>"));
  EXPECT_THAT(svg, HasSubstr(">&lt;before tracing&gt;</text>"));
  EXPECT_THAT(svg, HasSubstr(">100 KiB</text>"));
  EXPECT_THAT(svg, HasSubstr(">0.1</text>"));
  // Nothing is fetched when it is opened.
  EXPECT_THAT(svg, Not(HasSubstr("href")));
  const std::vector<std::string> parts = absl::StrSplit(svg, "class=\"layer\"");
  EXPECT_EQ(parts.size(), 1u + 5);
}

TEST(TimelineTest, HostileNamesDoNoHarmToXml) {
  PageEventsRun run;
  run.file = "</title><script>alert(1)</script>&\x1b[2J\xff\"'";
  run.load = "]]>";
  const std::string svg = Drawn(run);
  EXPECT_EQ(XmlFault(svg), "");
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, Not(HasSubstr("\x1b")));
  EXPECT_THAT(svg, HasSubstr("&lt;/title&gt;&lt;script&gt;alert(1)"));
}

// More pages than statm counts.
std::string OverfullRun() {
  StringSink sink;
  RunBuilder builder(&sink);
  BeginPageRun(&builder);
  builder.AddMapping("");
  builder.AddPages(CamePages(100, 1, 100, 1));
  builder.AddProcess(200000, 40 * 4096, 110 * 4096);
  Record record;
  record.mutable_footer()->set_end_us(400000);
  builder.AddRecord(record);
  builder.Flush();
  return sink.contents();
}

TEST(TimelineTest, UnattributedBelowZeroDoesNotBreakTheStack) {
  const Printed svg = TimelineOf(OverfullRun(), {});
  EXPECT_EQ(svg.code, 0);
  EXPECT_EQ(XmlFault(svg.out), "");
  EXPECT_THAT(svg.out, HasSubstr("peak 0 bytes, least -240.0 KiB"));
  const auto rows = Rows(TimelineOf(OverfullRun(), {"--format", "csv"}));
  EXPECT_EQ(rows.back().back(), std::to_string(-60 * 4096));
}

TEST(TimelineTest, ARunWithoutPageEventsIsNamed) {
  const Printed printed = TimelineOf(SmallRun().Build(), {});
  EXPECT_EQ(printed.code, 2);
  EXPECT_THAT(printed.err, HasSubstr("has no page events"));
}

TEST(TimelineTest, UsageErrors) {
  const std::string run = PageEventsRun().Build();
  EXPECT_THAT(TimelineOf(run, {"--format", "png"}).err,
              HasSubstr("--format: expected svg or csv, found 'png'"));
  EXPECT_THAT(TimelineOf(run, {"--by", "mapping"}).err,
              HasSubstr("module, package, stack or heap, found 'mapping'"));
  EXPECT_THAT(TimelineOf(run, {"--top", "0"}).err,
              HasSubstr("--top: expected a number from 1 to 24, found '0'"));
  EXPECT_THAT(TimelineOf(run, {"--format", "csv", "--svg"}).err,
              HasSubstr("--format csv does not go with --svg"));
  EXPECT_THAT(TimelineOf(run, {"--interval", "1s"}).err,
              HasSubstr("--interval 1s needs --of heap"));
}

TEST(TimelineTest, CsvHasTwoNames) {
  const std::string run = PageEventsRun().Build();
  EXPECT_EQ(TimelineOf(run, {"--csv"}).out,
            TimelineOf(run, {"--format", "csv"}).out);
}

TEST(RoundTicksTest, AreRound) {
  EXPECT_THAT(RoundTicks(10, 1, 5), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(RoundTicks(10.1, 1, 5), ElementsAre(0, 5, 10, 15));
  EXPECT_THAT(RoundTicks(0.6, 1, 3),
              ElementsAre(0, DoubleEq(0.2), DoubleEq(0.4), DoubleEq(0.6)));
  EXPECT_THAT(RoundTicks(300 << 20, 1 << 20, 6).back(), 300 << 20);
}

TEST(XmlTextTest, IsEscapedAndWithoutControlCharacters) {
  EXPECT_EQ(XmlText("a<b>&\"'\x01\nc"), "a&lt;b&gt;&amp;&quot;&#39;\\x01\nc");
}

}  // namespace
}  // namespace pymemrun
