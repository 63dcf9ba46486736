// The answer of runs whose memory is known.
#include <algorithm>
#include <cmath>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/answer/answer_json.h"
#include "readers/answer/answer_notes.h"
#include "readers/answer/answer_text.h"
#include "readers/testing/heap_run_for_tests.h"
#include "readers/testing/page_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr uint64_t kPage = 4096;
constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kStart = 0x10000000;

// A program of one file, /src/job.py, begun in /src. Line 3 calls numpy, which
// mallocs 40 MiB at 1 s and fills them. Line 4 makes a list of 8 MiB at 2 s.
// Line 5 reads a file of 2 MiB at 3 s. 4 MiB were there before. At 4 s, the
// peak, 6 MiB are anonymous and hold no block. At 5 s line 3's block goes with
// its pages.
class AnswerRun {
 public:
  bool pages = true, heap = true, native = true;
  uint64_t file_mib = 0;  // that the kernel counts at 3.5 s; 0: it does not
  std::string script = "/src/job.py";
  bool footer = true;
  Footer::End end = Footer::EXIT;
  uint64_t hwm_mib = 60;
  uint32_t children = 0;  // that were not traced

  std::string Build() const {
    StringSink sink;
    RunBuilder builder(&sink);
    Header header = RunBuilder::DefaultHeader();
    header.set_cwd("/src");
    header.set_script("job.py");
    header.set_page_period(pages ? 1 : 0);
    header.set_heap(heap ? HEAP_ALL : HEAP_OFF);
    header.set_heap_native(native);
    header.set_calls_off(true);
    header.set_own_bytes(kMiB);
    header.set_first_rss_bytes(4 * kMiB);
    builder.AddHeader(header);
    builder.AddThread("MainThread", 4711);
    const uint32_t module = builder.AddCode(script, "<module>", 1);
    const uint32_t library = builder.AddCode(
        "/usr/lib/python3/dist-packages/numpy/core/numeric.py", "ones", 136);
    const uint32_t three = builder.AddStack(0, module, 3);
    const uint32_t ones = builder.AddStack(three, library, 191);
    const uint32_t four = builder.AddStack(0, module, 4);
    const uint32_t five = builder.AddStack(0, module, 5);
    const uint32_t heap_mapping = builder.AddMapping("[heap]");
    const uint32_t file_mapping = builder.AddMapping("/data/table.bin");
    if (pages) {
      builder.AddResidency(
          0, 10, 4 * kMiB,
          {{100, 4 * kMiB / kPage, file_mapping, true, false}});
      AddPages(&builder, 1000000, kStart, 40 * kMiB, ones, heap_mapping);
    }
    if (heap && native) {
      HeapEvent block = AllocEvent(1000001, kStart, 40 * kMiB, ones);
      block.allocator = HEAP_MALLOC;
      builder.AddHeap({block});
    }
    if (pages) {
      AddPages(&builder, 2000000, 2 * kStart, 14 * kMiB, four, heap_mapping);
    }
    if (heap) {
      builder.AddHeap({AllocEvent(2000001, 2 * kStart, 8 * kMiB, four)});
    }
    if (pages) {
      AddPages(&builder, 3000000, 4 * kStart, 2 * kMiB, five, file_mapping);
    }
    if (file_mib > 0) AddCounts(&builder);
    builder.AddProcess(4000000, 60 * kMiB, 60 * kMiB);
    if (heap && native) builder.AddHeap({FreeEvent(5000000, kStart)});
    if (pages) {
      PageEntry gone = {};
      gone.time_us = 5000001;
      gone.page = kStart / kPage;
      gone.pages = 40 * kMiB / kPage;
      gone.thread = 1;
      gone.weight = 1;
      gone.action = PAGES_UNMAPPED;
      builder.AddPages({gone});
    }
    builder.AddProcess(6000000, 20 * kMiB, 60 * kMiB);
    if (footer) AddFooter(&builder);
    builder.Flush();
    return sink.contents();
  }

 private:
  void AddFooter(RunBuilder* builder) const {
    Record record;
    Footer* const last = record.mutable_footer();
    last->set_end(end);
    last->set_end_us(7000000);
    last->set_hwm_bytes(hwm_mib * kMiB);
    last->set_untraced_children(children);
    builder->AddRecord(record);
  }
  // What the kernel counted as pages of files, at two moments.
  void AddCounts(RunBuilder* builder) const {
    for (const auto& [time_us, mib] :
         {std::pair<uint64_t, uint64_t>{500, 2}, {3500000, file_mib}}) {
      Record record;
      ProcessSample* const sample = record.mutable_process();
      sample->set_time_us(time_us);
      sample->set_rss_bytes(time_us < 1000 ? 5 * kMiB : 59 * kMiB);
      sample->set_hwm_bytes(sample->rss_bytes());
      sample->set_file_bytes(mib * kMiB);
      builder->AddRecord(record);
    }
  }
  static void AddPages(RunBuilder* builder, uint64_t time_us, uint64_t begin,
                       uint64_t bytes, uint32_t stack, uint32_t mapping) {
    std::vector<PageEntry> entries =
        CamePages(time_us, begin / kPage, bytes / kPage, stack);
    for (PageEntry& entry : entries) {
      entry.time_us = time_us;
      entry.mapping = mapping;
    }
    builder->AddPages(entries);
  }
};

std::unique_ptr<Answer> Read(const AnswerRun& run) {
  const TempFile contents(run.Build());
  static const Console console = {"pymemreport", nullptr, 1, 2};
  const auto file = RereadFile::Open(contents.path(), console);
  return ReadAnswer(file.get());
}

double SumOf(const MemorySplit& split) {
  return split.python_bytes + split.native_bytes + split.free_bytes +
         split.file_bytes + split.stack_bytes + split.before_bytes +
         split.tracing_bytes + split.unattributed_bytes;
}

TEST(AnswerTest, PartsOfThePeakAreKnownAndAddUp) {
  const auto answer = Read({});
  ASSERT_NE(answer, nullptr);
  const MemorySplit& peak = answer->peak.split;
  EXPECT_EQ(answer->peak_bytes, 60 * kMiB);
  EXPECT_EQ(peak.rss_bytes, 60 * kMiB);
  EXPECT_EQ(peak.native_bytes, 40 * kMiB);
  EXPECT_EQ(peak.python_bytes, 8 * kMiB);
  EXPECT_EQ(peak.free_bytes, 6 * kMiB);
  EXPECT_EQ(peak.file_bytes, 2 * kMiB);
  EXPECT_EQ(peak.before_bytes, 3 * kMiB);
  EXPECT_EQ(peak.tracing_bytes, 1 * kMiB);
  EXPECT_EQ(peak.unattributed_bytes, 0);
  EXPECT_EQ(SumOf(peak), peak.rss_bytes);
}

TEST(AnswerJsonTest, HasTheSame) {
  const auto json = nlohmann::json::parse(AnswerJson(*Read({})));
  EXPECT_EQ(json["peak_rss_bytes"], 60 * kMiB);
  const auto& peak = json["peak"];
  EXPECT_EQ(peak["rss_bytes"], 60 * kMiB);
  EXPECT_EQ(peak["parts"]["native_heap"], 40 * kMiB);
  int64_t sum = 0;
  for (const auto& part : peak["parts"]) sum += part.get<int64_t>();
  EXPECT_EQ(sum, 60 * kMiB);
  ASSERT_EQ(peak["places"].size(), 3u);
  EXPECT_EQ(peak["places"][0],
            nlohmann::json::parse(
                R"({"file": "/src/job.py", "line": 3, "own": true,
                    "bytes": 41943040, "error_bytes": 0, "file_bytes": 0,
                    "called": "numpy ones", "thread": "MainThread"})"));
  EXPECT_TRUE(peak["places"][1]["called"].is_null());
  EXPECT_EQ(json["end"]["rss_bytes"], 20 * kMiB);
}

// VmHWM may be some pages higher than what is known of any moment, or have been
// read before the peak.
TEST(AnswerTest, ThePeakIsTheSameInEveryReport) {
  for (const uint64_t hwm_mib : {50, 60, 61}) {
    for (const bool pages : {true, false}) {
      AnswerRun run;
      run.hwm_mib = hwm_mib;
      run.pages = pages;
      const auto answer = Read(run);
      const uint64_t peak = std::max<uint64_t>(hwm_mib, 60) * kMiB;
      EXPECT_EQ(answer->peak_bytes, peak);
      EXPECT_EQ(SumOf(answer->peak.split), peak);
      const TempFile file(run.Build());
      const auto summary = nlohmann::json::parse(
          Report({"summary", "--json", file.path()}).out)[0];
      EXPECT_EQ(summary["peak_rss_bytes"], peak);
      EXPECT_EQ(std::llround(summary["peak_rss_s"].get<double>() * 1e6),
                answer->peak.time_us);
      EXPECT_EQ(summary["vm_hwm_bytes"], peak);
      if (!pages) continue;
      const std::string csv =
          Report({"timeline", "--format", "csv", file.path()}).out;
      EXPECT_THAT(csv, HasSubstr(absl::StrFormat(
                           "\n%.6f,%d,", answer->peak.time_us / 1e6, peak)));
      uint64_t most = 0;
      for (const absl::string_view line : absl::StrSplit(csv, '\n')) {
        const std::vector<std::string> cells = absl::StrSplit(line, ',');
        uint64_t rss = 0;
        if (cells.size() > 1 && absl::SimpleAtoi(cells[1], &rss)) {
          most = std::max(most, rss);
        }
      }
      EXPECT_EQ(most, peak);
    }
  }
}

TEST(AnswerTest, LinesAreThoseOfTheUsersOwnCode) {
  const auto answer = Read({});
  ASSERT_NE(answer, nullptr);
  const std::vector<PlaceHolding>& places = answer->peak.split.places;
  ASSERT_EQ(places.size(), 3u);
  EXPECT_EQ(places[0].place, (Place{"/src/job.py", 3, {}}));
  EXPECT_TRUE(places[0].is_own);
  EXPECT_EQ(places[0].bytes, 40 * kMiB);
  EXPECT_EQ(places[0].called, "numpy ones");
  EXPECT_EQ(places[1].place.line, 4u);
  EXPECT_EQ(places[1].called, "");
  EXPECT_EQ(places[2].place.line, 5u);
  EXPECT_EQ(places[2].file_bytes, 2 * kMiB);
}

TEST(AnswerTest, TheThreadThatDidItIsNamed) {
  const auto answer = Read({});
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(answer->peak.split.places[0].thread, "MainThread");
}

TEST(AnswerTest, TheEndHasWhatIsLeft) {
  const auto answer = Read({});
  ASSERT_NE(answer, nullptr);
  const MemorySplit& end = answer->end.split;
  EXPECT_EQ(end.rss_bytes, 20 * kMiB);
  EXPECT_EQ(end.native_bytes, 0);
  EXPECT_EQ(end.python_bytes, 8 * kMiB);
  EXPECT_EQ(end.free_bytes, 6 * kMiB);
  EXPECT_EQ(SumOf(end), end.rss_bytes);
}

TEST(AnswerTest, WithoutHeapTheTouchersHoldAnonymousMemory) {
  AnswerRun run;
  run.heap = run.native = false;
  const auto answer = Read(run);
  ASSERT_NE(answer, nullptr);
  const MemorySplit& peak = answer->peak.split;
  EXPECT_EQ(peak.free_bytes, 54 * kMiB);
  EXPECT_EQ(SumOf(peak), peak.rss_bytes);
  EXPECT_EQ(peak.places[0].bytes, 40 * kMiB);
  EXPECT_EQ(peak.places[1].bytes, 14 * kMiB);
  const std::string text = AnswerText(*answer, {});
  EXPECT_THAT(text, HasSubstr("heap, live and free"));
  EXPECT_THAT(text, HasSubstr("Not recorded: allocations"));
}

TEST(AnswerTest, WithoutPagesTheRestIsUnattributed) {
  AnswerRun run;
  run.pages = false;
  const auto answer = Read(run);
  ASSERT_NE(answer, nullptr);
  const MemorySplit& peak = answer->peak.split;
  EXPECT_EQ(peak.rss_bytes, 60 * kMiB);
  EXPECT_EQ(peak.native_bytes, 40 * kMiB);
  EXPECT_EQ(peak.unattributed_bytes, 11 * kMiB);
  EXPECT_EQ(SumOf(peak), peak.rss_bytes);
  EXPECT_THAT(AnswerText(*answer, {}), HasSubstr("(--trace pages)"));
}

// 2 of 60 MiB were of files before tracing, 9 are at the peak.
TEST(AnswerTest, WithoutPagesFilesAreAsTheKernelCountsThem) {
  AnswerRun run;
  run.pages = false;
  run.file_mib = 9;
  const auto answer = Read(run);
  ASSERT_NE(answer, nullptr);
  const MemorySplit& peak = answer->peak.split;
  EXPECT_EQ(peak.file_bytes, 7 * kMiB);
  EXPECT_EQ(peak.before_bytes, 3 * kMiB);
  EXPECT_EQ(peak.native_bytes, 40 * kMiB);
  EXPECT_EQ(peak.free_bytes, 1 * kMiB);
  EXPECT_EQ(peak.unattributed_bytes, 0);
  EXPECT_EQ(SumOf(peak), peak.rss_bytes);
  EXPECT_THAT(AnswerText(*answer, {}),
              HasSubstr("files are as the kernel\ncounts them."));
}

TEST(AnswerTextTest, BeginsWithTheAnswer) {
  const auto answer = Read({});
  ASSERT_NE(answer, nullptr);
  AnswerTextOptions options;
  options.file_name = "run.pb";
  EXPECT_THAT(AnswerText(*answer, options),
              HasSubstr("\nPeak 60 MiB at 3.000 s. job.py:3 holds 40 MiB of it "
                        "(67 %), in numpy ones.\n40 MiB went back before the "
                        "program ended.\n"));
}

// On one line.
std::string TextOf(const AnswerRun& run, const std::string& name = "run.pb") {
  AnswerTextOptions options;
  options.terminal.columns = 120;
  options.file_name = name;
  std::string text = AnswerText(*Read(run), options);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

TEST(AnswerTextTest, WhatIsStillThereAddsUp) {
  EXPECT_THAT(
      TextOf({}),
      HasSubstr("Still there when the program ended: 20 MiB, that is 8.0 MiB "
                "live blocks (nearly all by job.py:4); 6.0 MiB free, kept by "
                "allocators; 2.0 MiB files and code; 3.0 MiB before tracing; "
                "1.0 MiB tracing itself. "));
}

TEST(AnswerTextTest, ChildrenThatWereNotTracedAreSaid) {
  AnswerRun run;
  EXPECT_THAT(TextOf(run), Not(HasSubstr("Not recorded")));
  run.children = 3;
  EXPECT_THAT(TextOf(run), HasSubstr(" Not recorded: 3 child processes. "));
}

TEST(AnswerTextTest, WithoutAnEndThereIsALastRecord) {
  AnswerRun run;
  const std::string no_end = "The file has no end: the program still runs";
  EXPECT_THAT(TextOf(run), Not(HasSubstr(no_end)));
  run.end = Footer::SIGNAL;
  EXPECT_THAT(TextOf(run), Not(HasSubstr(no_end)));
  EXPECT_THAT(TextOf(run),
              HasSubstr("Still there at the last record, 7.000 s: 20 MiB"));
  EXPECT_THAT(TextOf(run), Not(HasSubstr("program ended")));
  run.footer = false;
  EXPECT_THAT(TextOf(run), HasSubstr(no_end));
  EXPECT_THAT(TextOf(run),
              HasSubstr("40 MiB went back before the last record."));
  EXPECT_THAT(TextOf(run),
              HasSubstr("Still there at the last record, 6.000 s: 20 MiB"));
}

// Each exits with 0, also where a shell gets it.
TEST(AnswerTextTest, OnlyCommandsThatWorkComeNext) {
  for (const bool pages : {true, false}) {
    for (const bool heap : {true, false}) {
      AnswerRun run;
      run.pages = pages;
      run.heap = run.native = heap;
      const TempFile file(run.Build());
      for (const NextCommand& next : NextCommands(*Read(run))) {
        std::vector<std::string> words = {next.command, file.path()};
        for (const std::string& option : next.options) {
          words.push_back(option == "rss.svg" ? "/dev/null" : option);
        }
        const Printed printed = Report(words);
        EXPECT_EQ(printed.code, 0) << next.command << ": " << printed.err;
      }
    }
  }
  EXPECT_THAT(TextOf({}, "my $runs/a.pb"),
              HasSubstr(" pymemreport heap 'my $runs/a.pb' --stacks "));
}

TEST(AnswerTextTest, FitsTheTerminal) {
  const auto answer = Read({});
  ASSERT_NE(answer, nullptr);
  for (const size_t columns : {40, 41, 50, 60, 80, 120}) {
    AnswerTextOptions options;
    options.terminal.columns = columns;
    options.file_name = "a/rather/long/name/of/a/run/file.pb";
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
  options.file_name = "a/rather/long/name/of/run.pb";
  EXPECT_THAT(AnswerText(*answer, options),
              HasSubstr("\npymemreport heap \\\n"
                        "  a/rather/long/name/of/run.pb --stacks\n"));
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

TEST(AnswerTextTest, BrieflyItIsTheSentencesAndThreeLines) {
  const TempFile file(AnswerRun().Build());
  const Printed printed = Report({"report", "--brief", file.path()});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_EQ(printed.out.rfind("Peak 60 MiB at 3.000 s. ", 0), 0u);
  EXPECT_THAT(printed.out, HasSubstr("   40 MiB  67 %  job.py:3"));
  for (const char* const more :
       {"RSS at the peak", "Your lines", "Still there", "pymemreport"}) {
    EXPECT_THAT(printed.out, Not(HasSubstr(more)));
  }
  const std::vector<std::string> lines = absl::StrSplit(printed.out, '\n');
  EXPECT_LE(lines.size(), 8u);
}

TEST(AnswerCommandTest, AFileAloneIsEnough) {
  const TempFile file(AnswerRun().Build());
  const Printed alone = Report({file.path()});
  EXPECT_EQ(alone.code, 0) << alone.err;
  EXPECT_THAT(alone.out, HasSubstr("\nPeak 60 MiB at 3.000 s. "));
  EXPECT_EQ(Report({"report", file.path()}).out, alone.out);
}

TEST(AnswerCommandTest, WhatIsNoFileIsSaidSo) {
  const Printed missing = Report({"no/such.pb"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_EQ(missing.err,
            "pymemreport: no/such.pb: No such file or directory\n");
  EXPECT_THAT(Report({"toop"}).err, HasSubstr("did you mean top?"));
}

TEST(AnswerCommandTest, OwnCodeIsWhatThePatternsSay) {
  const TempFile file(AnswerRun().Build());
  EXPECT_THAT(Report({file.path(), "--own", "*/numpy/*"}).out,
              HasSubstr("core/numeric.py:191 holds 40 MiB"));
  OwnCode::SetPatterns({});
}

}  // namespace
}  // namespace pymemrun
