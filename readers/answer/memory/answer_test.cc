// The answer of runs whose memory is known.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/answer/memory/answer_json.h"
#include "readers/answer/memory/answer_run_for_tests.h"
#include "readers/answer/memory/answer_text.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;

double SumOf(const MemorySplit& split) {
  return split.python_bytes + split.native_bytes + split.pool_bytes +
         split.free_bytes + split.file_bytes + split.stack_bytes +
         split.before_bytes + split.tracing_bytes + split.unattributed_bytes;
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
                    "pool_bytes": 0, "kept_by": null, "waits_bytes": 0,
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

// A decorator's function, or one that no user writes, is no name for a call.
TEST(AnswerTest, ACallIsNamedOnlyAsUsersWriteIt) {
  AnswerRun run;
  for (const char* const hidden :
       {"deprecate.<locals>.wrapper", "Col.__call__"}) {
    run.called = hidden;
    EXPECT_EQ(Read(run)->peak.split.places[0].called, "");
  }
  run.called = "DataFrame.__init__";
  EXPECT_EQ(Read(run)->peak.split.places[0].called, "numpy DataFrame.__init__");
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

// The kernel counts less than the known pages: free ones are gone first.
TEST(AnswerTest, PagesThatLeftUnseenAreOfFreeMemory) {
  AnswerRun run;
  for (const auto& [rss, free, rest] :
       {std::tuple(57.0, 3.0, 0.0), std::tuple(50.0, 0.0, -4.0)}) {
    run.rss_mib = run.hwm_mib = static_cast<uint64_t>(rss);
    const auto answer = Read(run);
    ASSERT_NE(answer, nullptr);
    const MemorySplit& peak = answer->peak.split;
    EXPECT_EQ(peak.rss_bytes, rss * kMiB);
    EXPECT_EQ(peak.free_bytes, free * kMiB);
    EXPECT_EQ(peak.unattributed_bytes, rest * kMiB);
    EXPECT_EQ(SumOf(peak), peak.rss_bytes);
  }
}

// What the interpreter's start left free was there before tracing. A block that
// is put there later is its line's.
TEST(AnswerTest, MemoryOfTheInterpretersStartIsNotFree) {
  AnswerRun run;
  run.start_mib = 5;
  run.rss_mib = run.hwm_mib = 65;
  for (const uint64_t block : {uint64_t{0}, uint64_t{1000}, 2 * kMiB}) {
    run.later.clear();
    if (block > 0) {
      run.later = {AllocEvent(2000002, 8 * kStart, block, /*stack=*/3)};
    }
    const auto answer = Read(run);
    ASSERT_NE(answer, nullptr);
    const MemorySplit& peak = answer->peak.split;
    EXPECT_NEAR(peak.before_bytes, 8 * kMiB - block, 32);
    EXPECT_NEAR(peak.python_bytes, 8 * kMiB + block, 32);
    EXPECT_EQ(peak.free_bytes, 6 * kMiB);
    EXPECT_EQ(peak.unattributed_bytes, 0);
    EXPECT_EQ(SumOf(peak), peak.rss_bytes);
  }
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

// Line 3 allocates 40 MiB and touches none of them. The last scan found 4 MiB
// of files. By the peak the kernel counts 24 MiB of them, and 26 MiB in all.
TEST(AnswerTest, PagesOfFilesThatNoScanSawAreOfNoBlock) {
  StringSink sink;
  RunBuilder builder(&sink);
  Header header = RunBuilder::DefaultHeader();
  header.set_page_scan(true);
  header.set_heap(HEAP_ALL);
  header.set_heap_native(true);
  header.set_own_bytes(0);
  header.set_first_rss_bytes(4 * kMiB);
  builder.AddHeader(header);
  builder.AddThread("MainThread", 4711);
  const uint32_t three =
      builder.AddStack(0, builder.AddCode("/src/job.py", "<module>", 1), 3);
  const std::vector<ResidentRange> files = {
      {100, 4 * kMiB / kPage, builder.AddMapping("/lib/x.so"), true, false}};
  builder.AddResidency(0, 10, 4 * kMiB, files);
  HeapEvent block = AllocEvent(1000000, kStart, 40 * kMiB, three);
  block.allocator = HEAP_MALLOC;
  builder.AddHeap({block});
  builder.AddResidency(1999990, 2000000, 4 * kMiB, files);
  // A sample from before the scan stands behind it.
  for (const uint64_t time_us : {2100000, 1900000}) {
    Record record;
    ProcessSample* const sample = record.mutable_process();
    sample->set_time_us(time_us);
    sample->set_rss_bytes((time_us > 2000000 ? 26 : 4) * kMiB);
    sample->set_hwm_bytes(sample->rss_bytes());
    sample->set_file_bytes((time_us > 2000000 ? 24 : 3) * kMiB);
    builder.AddRecord(record);
  }
  Record footer;
  footer.mutable_footer()->set_end_us(3000000);
  builder.AddRecord(footer);
  builder.Flush();
  const TempFile contents(sink.contents());
  static const Console console = {"pymemreport", nullptr, 1, 2};
  const auto answer =
      ReadAnswer(RereadFile::Open(contents.path(), console).get());
  ASSERT_NE(answer, nullptr);
  const MemorySplit& peak = answer->peak.split;
  EXPECT_EQ(peak.rss_bytes, 26 * kMiB);
  EXPECT_EQ(peak.file_bytes, 20 * kMiB);
  EXPECT_EQ(peak.native_bytes, 2 * kMiB);
  EXPECT_EQ(peak.before_bytes, 4 * kMiB);
  EXPECT_EQ(SumOf(peak), peak.rss_bytes);
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

TEST(AnswerTest, WhoWritesTheFileIsKnown) {
  const TempFile contents(AnswerRun().Build());
  const Console console = {"pymemreport", nullptr, 1, 2};
  const int fd = open(contents.path().c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  for (const Writing writing : {Writing::kRecording, Writing::kFinishing}) {
    SetWriting(fd, writing);
    EXPECT_EQ(
        ReadAnswer(RereadFile::Open(contents.path(), console).get())->writing,
        writing);
  }
  close(fd);
  EXPECT_EQ(
      ReadAnswer(RereadFile::Open(contents.path(), console).get())->writing,
      Writing::kNo);
}

// Line 5 maps a file privately, and writes to 2 of its 3 MiB.
TEST(AnswerTest, WrittenPagesOfAPrivateFileAreCopies) {
  for (const bool scan : {false, true}) {
    StringSink sink;
    RunBuilder builder(&sink);
    Header header = RunBuilder::DefaultHeader();
    header.set_cwd("/src");
    header.set_calls_off(true);
    header.set_first_rss_bytes(kMiB);
    header.set_page_scan(scan);
    header.set_page_period(scan ? 0 : 1);
    header.set_heap(HEAP_ALL);
    header.set_heap_native(true);
    builder.AddHeader(header);
    builder.AddThread("MainThread", 4711);
    const uint32_t five =
        builder.AddStack(0, builder.AddCode("/src/job.py", "<module>", 1), 5);
    const uint32_t none = builder.AddMapping("");
    const uint32_t file = builder.AddMapping("/data/table.bin");
    const ResidentRange before = {100, kMiB / kPage, none, false, false};
    builder.AddResidency(0, 10, kMiB, {before});
    PageEntry touched =
        RangeEntry(1000, PAGES_POPULATED, kStart / kPage, 3 * kMiB / kPage);
    touched.stack = five;
    touched.mapping = file;
    if (!scan) builder.AddPages({touched});
    // RSS grows while it allocates.
    builder.AddHeap({AllocEvent(1000, 100 * kPage, 64, five)});
    builder.AddResidency(
        1990, 2000, 4 * kMiB,
        {before,
         {kStart / kPage, 2 * kMiB / kPage, file, false, false},
         {(kStart + 2 * kMiB) / kPage, kMiB / kPage, file, true, false}});
    builder.AddProcess(3000, 4 * kMiB, 4 * kMiB);
    builder.Flush();
    const TempFile contents(sink.contents());
    const Console console = {"pymemreport", nullptr, 1, 2};
    const auto answer =
        ReadAnswer(RereadFile::Open(contents.path(), console).get());
    const MemorySplit& split = answer->peak.split;
    EXPECT_EQ(split.copied_bytes, 2 * kMiB) << scan;
    EXPECT_EQ(split.file_bytes, kMiB);
    EXPECT_EQ(split.unattributed_bytes, 0);
    ASSERT_FALSE(split.places.empty());
    EXPECT_EQ(split.places[0].place.line, scan ? 0u : 5u);  // it was not seen
    EXPECT_NEAR(split.places[0].bytes, 3 * kMiB, kPage);
  }
}

}  // namespace
}  // namespace pymemrun
