#include "readers/watch/watch_frame.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kMiB = 1 << 20;

WatchFrame Frame() {
  WatchFrame frame;
  frame.script = "/src/job.py";
  frame.pid = 4711;
  frame.time_us = 12300000;
  frame.rss_bytes = 100 << 20;
  frame.peak_bytes = 143 << 20;
  frame.curve = {1 * kMiB, 2 * kMiB, 4 * kMiB};
  frame.meaning = "live heap";
  frame.lines = {{"/src/job.py:5 load", 40 * kMiB, 2 * kMiB},
                 {"/src/job.py:9 keep", 90 * kMiB, -kMiB}};
  frame.threads = {{"MainThread#4711", 90 * kMiB, 0},
                   {"worker#4712", 40 * kMiB, kMiB}};
  return frame;
}

std::vector<std::string> Texts(const WatchFrame& frame, size_t columns,
                               size_t rows) {
  std::vector<std::string> texts;
  for (const WatchLine& line : FrameLines(frame, columns, rows, true)) {
    texts.push_back(line.text);
  }
  return texts;
}

size_t RowWith(const std::vector<std::string>& texts, const std::string& part) {
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].find(part) != std::string::npos) return i;
  }
  return texts.size();
}

TEST(WatchFrameTest, SaysWhatRunsAndWhatItHas) {
  EXPECT_THAT(Texts(Frame(), 80, 24),
              ElementsAre("job.py  pid 4711  at 12.300 s",
                          "RSS 100.0 MiB  peak 143.0 MiB", "  4.0 MiB   █",
                          "            █", "            █", "           ██",
                          "          ▄██", "        0 ███",
                          "    last 5 s      in all  your lines, by live heap",
                          "    +2.0 MiB    40.0 MiB  /src/job.py:5 load",
                          "    -1.0 MiB    90.0 MiB  /src/job.py:9 keep",
                          "    last 5 s      in all  2 threads with memory",
                          "    +1.0 MiB    40.0 MiB  worker#4712",
                          "     0 bytes    90.0 MiB  MainThread#4711", "", "",
                          "", "", "", "", "", "", "",
                          "q quit   space freeze   s sort by size"));
}

TEST(WatchFrameTest, AnySizeIsKeptTo) {
  WatchFrame frame = Frame();
  for (int i = 0; i < 200; ++i) {
    frame.lines.push_back(
        {absl::StrCat("/src/a/long/folder/job.py:", i), 1, 1});
    frame.threads.push_back({absl::StrCat("pool-", i), 1, 1});
    frame.children.push_back({4000u + i, "job.py", 1 << 20, false});
  }
  frame.notes = {std::string(300, 'x')};
  for (const size_t columns : {1, 7, 20, 40, 80, 300}) {
    for (size_t rows = 0; rows < 60; ++rows) {
      const std::vector<std::string> texts = Texts(frame, columns, rows);
      EXPECT_EQ(texts.size(), rows);
      for (const std::string& text : texts) {
        EXPECT_LE(ColumnsOf(text), std::max<size_t>(columns, 2)) << text;
      }
    }
  }
}

TEST(WatchFrameTest, LargeScreensShowEachPart) {
  WatchFrame frame = Frame();
  frame.children = {{4800, "child.py", 30 << 20, false}, {4801, "", 0, true}};
  frame.notes = {"its output: /tmp/out"};
  const std::vector<std::string> texts = Texts(frame, 80, 24);
  EXPECT_LT(RowWith(texts, "its output: /tmp/out"), 24u);
  EXPECT_LT(RowWith(texts, "2 children"), 24u);
  EXPECT_LT(RowWith(texts, "    30.0 MiB  pid 4800  child.py"), 24u);
  EXPECT_LT(RowWith(texts, "       ended  pid 4801"), 24u);
}

TEST(WatchFrameTest, LongNamesKeepTheirLine) {
  WatchFrame frame = Frame();
  frame.lines[0].name =
      "/a/long/folder/e_threads.py:16 a_function_of_a_long_name";
  frame.lines[1].name =
      "/a/long/folder/e_threads.py:1 a_function_of_a_long_name";
  frame.children = {
      {4800, "/a/very/long/folder/with/another/child.py", 1, false}};
  const std::vector<std::string> texts = Texts(frame, 60, 24);
  EXPECT_LT(RowWith(texts, "…/e_threads.py:16 a_function_of_.."), 24u);
  EXPECT_LT(RowWith(texts, "…/e_threads.py:1 a_function_of_a.."), 24u);
  EXPECT_LT(RowWith(texts, "pid 4800  …/long/folder/with/another/child.py"),
            24u);
}

TEST(WatchFrameTest, SortsBySizeWhenAsked) {
  WatchFrame frame = Frame();
  frame.by_bytes = true;
  const std::vector<std::string> texts = Texts(frame, 80, 24);
  EXPECT_LT(RowWith(texts, "job.py:9"), RowWith(texts, "job.py:5"));
  EXPECT_THAT(texts.back(), HasSubstr("s sort by change"));
}

TEST(WatchFrameTest, TheEndStays) {
  WatchFrame frame = Frame();
  frame.ended = true;
  frame.end = "exit 3";
  EXPECT_EQ(Texts(frame, 80, 24)[0],
            "job.py  pid 4711  ended: exit 3, after 12.300 s");
}

TEST(WatchFrameTest, BeforeTheHeaderItWaits) {
  EXPECT_THAT(Texts(WatchFrame(), 80, 5),
              ElementsAre("waiting for the run to start",
                          "RSS is not known yet", "", "", HasSubstr("q quit")));
}

TEST(WatchFrameTest, WithoutAHeaderItDoesNotWaitForEver) {
  WatchFrame frame;
  frame.ended = true;
  EXPECT_EQ(Texts(frame, 80, 5)[0],
            "ended, and nothing of the run can be read");
}

TEST(WatchFrameTest, NamesFromTheFileAreHarmless) {
  WatchFrame frame = Frame();
  frame.script = "evil\x1b[2J.py";
  frame.lines[0].name = "a\nb\x1b]0;x";
  frame.threads[0].name =
      "\x9b"
      "c";
  frame.children = {{1, "\x1b[31m", 1, false}};
  for (const std::string& text : Texts(frame, 80, 24)) {
    EXPECT_THAT(text, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\n")),
                            Not(HasSubstr("\x9b"
                                          "c"))));
  }
  EXPECT_THAT(FrameSummary(frame), Not(HasSubstr("\x1b")));
}

TEST(WatchFrameTest, ASummaryIsOneLine) {
  WatchFrame frame = Frame();
  EXPECT_EQ(FrameSummary(frame),
            "job.py  pid 4711  at 12.300 s  RSS 100.0 MiB  peak 143.0 MiB  "
            "+2.0 MiB /src/job.py:5 load");
  frame.lines.clear();
  frame.children.resize(1);
  EXPECT_THAT(FrameSummary(frame), ::testing::EndsWith("143.0 MiB  1 child"));
}

}  // namespace
}  // namespace pymemrun
