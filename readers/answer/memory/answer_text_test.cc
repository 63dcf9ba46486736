// The answer's text, of runs whose memory is known.
#include "readers/answer/memory/answer_text.h"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/answer/memory/answer_json.h"
#include "readers/answer/memory/answer_run_for_tests.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(AnswerTextTest, BeginsWithTheAnswer) {
  const auto answer = Read({});
  ASSERT_NE(answer, nullptr);
  AnswerTextOptions options;
  EXPECT_THAT(
      AnswerText(*answer, options),
      HasSubstr("\nPeak 60 MiB at 3.000 s. job.py:3 holds 40 MiB of it "
                "(67 %), in numpy ones.\n40 MiB was released before the "
                "program ended.\n"));
}

// On one line.
std::string TextOf(const AnswerRun& run) {
  AnswerTextOptions options;
  options.terminal.columns = 120;
  std::string text = AnswerText(*Read(run), options);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

TEST(AnswerTextTest, WhatIsStillThereAddsUp) {
  EXPECT_THAT(
      TextOf({}),
      HasSubstr(
          "Still resident when the program ended: 20 MiB, that is 8.0 MiB "
          "live blocks (nearly all by job.py:4); 6.0 MiB free, kept by "
          "allocators; 2.0 MiB files and code; 3.0 MiB before tracing; "
          "1.0 MiB tracing itself. "));
}

// The sentence about children says it, see readers/answer/beside.
TEST(AnswerTextTest, ChildrenAreNoRemark) {
  AnswerRun run;
  run.children = 3;
  EXPECT_THAT(TextOf(run), Not(HasSubstr("Not recorded")));
}

TEST(AnswerTextTest, CommandsForWhatElseWasRecordedAreNamed) {
  AnswerRun run;
  EXPECT_THAT(TextOf(run), Not(HasSubstr("Recorded too")));
  run.gil_and_tasks = true;
  EXPECT_THAT(TextOf(run),
              HasSubstr("Recorded too, see pymemreport: gil, tasks."));
}

TEST(AnswerTextTest, LinesWithoutTextAreExplained) {
  EXPECT_THAT(TextOf({}),
              HasSubstr(" job.py changed after the run, or is gone: "
                        "its lines have no text here. "));
}

TEST(AnswerTextTest, WithoutAnEndThereIsALastRecord) {
  AnswerRun run;
  const std::string ends = "The recording ends at ";
  EXPECT_THAT(TextOf(run), Not(HasSubstr(ends)));
  run.end = Footer::SIGNAL;
  EXPECT_THAT(TextOf(run), Not(HasSubstr(ends)));
  EXPECT_THAT(TextOf(run),
              HasSubstr("Still resident at the last record, 7.000 s: 20 MiB"));
  EXPECT_THAT(TextOf(run), Not(HasSubstr("program ended")));
  run.footer = false;
  EXPECT_THAT(TextOf(run),
              HasSubstr("The recording ends at 6.000 s without an end: the "
                        "program was still running, the collector was killed, "
                        "or the file was cut off. Peak 60 MiB"));
  EXPECT_THAT(TextOf(run),
              HasSubstr("40 MiB was released before the last record."));
  EXPECT_THAT(TextOf(run),
              HasSubstr("Still resident at the last record, 6.000 s: 20 MiB"));
}

// Whether the program is there says more.
TEST(AnswerTextTest, WhyThereIsNoEndIsSaidOnEachScreen) {
  AnswerRun run;
  run.footer = false;
  const auto answer = Read(run);
  char host[HOST_NAME_MAX + 1] = {};
  ASSERT_EQ(gethostname(host, sizeof host - 1), 0);
  Header& header = answer->facts.header;
  header.set_host(host);
  header.set_pid(getpid());
  header.set_start_monotonic_ns(INT64_MAX);
  const std::string runs =
      "The program is still running; this report ends at 6.000 s.\n";
  const std::string is_over =
      "The recording ends at 6.000 s, before the program ended: its collector "
      "was\nkilled, or the file was cut off.\n";
  AnswerTextOptions brief;
  brief.brief = true;
  // Its collector was killed.
  EXPECT_EQ(answer->writing, Writing::kNo);
  EXPECT_THAT(AnswerText(*answer, brief), StartsWith(is_over));
  answer->writing = Writing::kRecording;
  EXPECT_THAT(AnswerText(*answer, {}), HasSubstr(runs));
  EXPECT_THAT(AnswerText(*answer, brief), StartsWith(runs));
  header.set_start_monotonic_ns(0);  // before this process
  EXPECT_THAT(AnswerText(*answer, {}), HasSubstr(is_over));
  EXPECT_THAT(AnswerText(*answer, brief), StartsWith(is_over));
  EXPECT_THAT(AnswerJson(*answer),
              HasSubstr("\"The recording ends at 6.000 s"));
}

// Only one that is whole says nothing.
TEST(AnswerTextTest, ADamagedFileSaysSoFirst) {
  const std::string whole = AnswerRun().Build();
  EXPECT_THAT(TextOf({}), Not(HasSubstr("damaged")));
  for (const bool brief : {true, false}) {
    std::string bytes = whole + whole;  // the second frame is damaged
    bytes[whole.size() + whole.size() / 2] ^= 0x40;
    const TempFile file(bytes);
    std::vector<std::string> words = {"report", file.path()};
    if (brief) words.emplace_back("--brief");
    const Printed printed = Report(words);
    EXPECT_EQ(printed.code, 1);
    EXPECT_THAT(printed.out,
                ContainsRegex("The file is damaged: 1 part of it, after "
                              "[0-9.]+ s, could not be read. "));
  }
}

TEST(AnswerTextTest, OfLinesThatHoldTheSameNoneIsBlamed) {
  const auto answer = Read({});
  std::vector<PlaceHolding>& places = answer->peak.split.places;
  places[1].bytes = 40 * kMiB - 1000;
  EXPECT_THAT(AnswerText(*answer, {}),
              HasSubstr("job.py:3 and job.py:4 hold about 40 MiB each."));
  places[1].bytes = 38 * kMiB;
  EXPECT_THAT(AnswerText(*answer, {}), HasSubstr("job.py:3 holds 40 MiB"));
  places[1].variance = 9.0 * kMiB * kMiB;
  EXPECT_THAT(AnswerText(*answer, {}), HasSubstr("and job.py:4 hold about"));
  for (const uint32_t line : {7, 8}) {
    places.push_back(places[1]);
    places.back().place.line = line;
  }
  EXPECT_THAT(AnswerText(*answer, {}),
              HasSubstr("job.py:3, job.py:4 and 2 other lines hold about"));
  places.pop_back();
  EXPECT_THAT(AnswerText(*answer, {}),
              HasSubstr("job.py:3, job.py:4 and job.py:7 hold about"));
}

TEST(AnswerTextTest, APartThatIsLargerThanAnyLineComesFirst) {
  const auto answer = Read({});
  answer->peak.split.free_bytes = 45 * kMiB;
  EXPECT_THAT(
      AnswerText(*answer, {}),
      HasSubstr("\nPeak 60 MiB at 3.000 s. 45 MiB of it (75 %) is free "
                "memory that allocators keep.\nAmong your lines, job.py:3 "
                "holds 40 MiB of it (67 %)"));
  answer->peak.split.file_bytes = 50 * kMiB;
  EXPECT_THAT(AnswerText(*answer, {}),
              HasSubstr(" 50 MiB of it (83 %) is pages of files and code."));
}

TEST(AnswerTextTest, AnImportIsNamedOnlyWhereNoOtherLineHoldsMuch) {
  const auto answer = Read({});
  std::vector<PlaceHolding>& places = answer->peak.split.places;
  places[0].is_import = true;
  EXPECT_THAT(
      AnswerText(*answer, {}),
      HasSubstr(" 40 MiB of it (67 %) came with imported modules. Among\nyour "
                "lines, job.py:4 holds 8.0 MiB of it (13 %)."));
  // With the code that came with it.
  places[0].file_bytes = 30 * kMiB;
  answer->peak.split.file_bytes = 32 * kMiB;
  EXPECT_THAT(AnswerText(*answer, {}),
              HasSubstr(" 40 MiB of it (67 %) came with imported modules."));
  places[1].bytes = 2 * kMiB;
  EXPECT_THAT(AnswerText(*answer, {}),
              HasSubstr(" job.py:3 holds 40 MiB of it (67 %)"));
  answer->growing.emplace_back().fit.span_us = 1;
  EXPECT_THAT(
      AnswerText(*answer, {}),
      HasSubstr("lines, job.py:4 and job.py:5 hold about 2.0 MiB each."));
  answer->growing.clear();
  places.resize(1);
  EXPECT_THAT(AnswerText(*answer, {}),
              HasSubstr(" job.py:3 holds 40 MiB of it (67 %)"));
}

TEST(AnswerTextTest, FreeMemorySaysWhereItIsAndWhatReturnsIt) {
  EXPECT_THAT(
      TextOf({}),
      HasSubstr(" Free at the end: 6.0 MiB in malloc's heap "
                "(ctypes.CDLL(None).malloc_trim(0) releases empty pages). Live "
                "blocks of job.py:4 keep these areas. "));
  const auto answer = Read({});
  AnswerTextOptions options;
  options.terminal.columns = 200;
  FreeMemory& free = answer->end.split.free;
  free.other_bytes = free.malloc_bytes;
  free.malloc_bytes = 0;
  free.in_python_arenas = true;
  EXPECT_THAT(
      AnswerText(*answer, options),
      HasSubstr("\nFree at the end: 6.0 MiB in arenas of Python's small "
                "objects (an empty arena is released).\n"));
  answer->end.split.free_bytes = answer->peak.split.free_bytes = 0;
  EXPECT_THAT(AnswerText(*answer, options), Not(HasSubstr("Free at")));
}

TEST(AnswerTextTest, ThreadsAreNamedWhereSeveralHoldMuch) {
  const auto answer = Read({});
  EXPECT_THAT(AnswerText(*answer, {}), Not(HasSubstr("By thread")));
  answer->peak.split.threads = {
      {"indexer", 30.0 * kMiB}, {"pool_1", 18.0 * kMiB}, {"idle", 1000}};
  EXPECT_THAT(AnswerText(*answer, {}),
              HasSubstr("\nBy thread: indexer 30 MiB, pool_1 18 MiB ...\n"));
}

TEST(AnswerTextTest, GrowthIsSaidWithItsError) {
  const auto answer = Read({});
  const Place place = answer->peak.split.places[1].place;
  answer->growing = {{place, {7.0 * kMiB, 14000000, 0.5 * kMiB}}};
  EXPECT_THAT(AnswerText(*answer, {}),
              HasSubstr("\nGrowing at the end: job.py:4, +7.0 MiB (error 512 "
                        "KiB) in the last 14.000 s,\n512 KiB/s.\n"));
}

TEST(AnswerTextTest, LittleThatIsUnattributedIsNotShown) {
  const auto answer = Read({});
  answer->peak.split.unattributed_bytes = -696;
  EXPECT_THAT(AnswerText(*answer, {}), Not(HasSubstr("unattributed")));
  answer->peak.split.unattributed_bytes = 2 * kMiB;
  EXPECT_THAT(AnswerText(*answer, {}), HasSubstr("unattributed"));
}

TEST(AnswerTextTest, FitsTheTerminal) {
  const auto answer = Read({});
  ASSERT_NE(answer, nullptr);
  for (const size_t columns : {40, 41, 50, 60, 80, 120}) {
    AnswerTextOptions options;
    options.terminal.columns = columns;
    options.next = {{{"pymemreport", "heap",
                      "a/rather/long/name/of/a/run/file.pb", "--stacks"},
                     "who called these lines"}};
    const std::string text = AnswerText(*answer, options);
    const std::vector<std::string> lines = absl::StrSplit(text, '\n');
    EXPECT_LE(lines.size(), 45u);
    for (const std::string& line : lines) {
      EXPECT_LE(ColumnsOf(line), columns) << line;
      EXPECT_FALSE(!line.empty() && line.back() == ' ') << line;
    }
  }
}

// Commands are to be pasted.
TEST(AnswerTextTest, CommandsGoOnInTheNextLine) {
  const auto answer = Read({});
  ASSERT_NE(answer, nullptr);
  AnswerTextOptions options;
  options.terminal.columns = 40;
  options.next = {{{"pymemreport", "timeline", "a/rather/long/name/of/run.pb",
                    "--by", "heap", "-o", "heap.svg"},
                   "RSS beside live blocks"}};
  EXPECT_THAT(AnswerText(*answer, options),
              HasSubstr("\npymemreport timeline \\\n"
                        "  a/rather/long/name/of/run.pb --by \\\n"
                        "  heap -o heap.svg\n"));
}

std::string WithoutColors(const std::string& text) {
  return std::regex_replace(text, std::regex("\x1b\\[[0-9]+m"), "");
}

TEST(AnswerTextTest, ColorsAreAddedToTheSameText) {
  const auto answer = Read({});
  ASSERT_NE(answer, nullptr);
  AnswerTextOptions options;
  const std::string plain = AnswerText(*answer, options);
  options.terminal.colors = true;
  const std::string colored = AnswerText(*answer, options);
  EXPECT_EQ(WithoutColors(colored), plain);
  EXPECT_THAT(colored, HasSubstr("\n\x1b[1mPeak 60 MiB at 3.000 s.\x1b[0m "
                                 "job.py:3 holds 40 MiB"));
  EXPECT_THAT(colored, HasSubstr("\n\x1b[1mRSS at the peak"));
  EXPECT_THAT(colored, HasSubstr("\n\x1b[1mYour lines at the peak"));
  EXPECT_THAT(colored, HasSubstr("\x1b[36m█"));
  // Each ends on its line: less -R forgets them there.
  for (const absl::string_view line : absl::StrSplit(colored, '\n')) {
    size_t begins = 0, ends = 0;
    for (size_t at = 0; (at = line.find("\x1b[", at)) != line.npos; ++at) {
      ++(line.substr(at).rfind("\x1b[0m", 0) == 0 ? ends : begins);
    }
    EXPECT_EQ(begins, ends) << line;
  }
}

TEST(AnswerTextTest, PlainCharactersWhereTheLocaleHasNoOthers) {
  const auto answer = Read({});
  ASSERT_NE(answer, nullptr);
  AnswerTextOptions options;
  options.terminal.unicode = false;
  for (const char c : AnswerText(*answer, options)) {
    EXPECT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << int{c};
  }
}

TEST(AnswerTextTest, BrieflyWhatGrowsIsSaidToo) {
  StringSink sink;
  RunBuilder builder(&sink);
  BeginHeapRun(&builder);
  const uint32_t stack =
      builder.AddStack(0, builder.AddCode("/src/job.py", "f", 1), 4);
  for (uint64_t i = 0; i < 100; ++i) {
    const uint64_t time_us = 100000 * (i + 1);
    builder.AddHeap({AllocEvent(time_us, kStart + i * kMiB, kMiB, stack)});
    builder.AddProcess(time_us, (20 + i) * kMiB, (20 + i) * kMiB);
  }
  builder.Flush();
  const TempFile file(sink.contents());
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"report", "--brief", file.path()},
        {file.path()}}) {
    EXPECT_THAT(Report(words).out, HasSubstr("\nGrowing at the end: "));
  }
}

TEST(AnswerTextTest, BrieflyItIsTheSentencesAndThreeLines) {
  const TempFile file(AnswerRun().Build());
  const Printed printed = Report({"report", "--brief", file.path()});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_EQ(printed.out.rfind("Peak 60 MiB at 3.000 s. ", 0), 0u);
  EXPECT_THAT(printed.out, HasSubstr("   40 MiB  67 %  job.py:3"));
  for (const char* const more :
       {"RSS at the peak", "Your lines", "Still resident", "pymemreport"}) {
    EXPECT_THAT(printed.out, Not(HasSubstr(more)));
  }
  const std::vector<std::string> lines = absl::StrSplit(printed.out, '\n');
  EXPECT_LE(lines.size(), 8u);
}

}  // namespace
}  // namespace pymemrun
