#include "readers/answer/memory/place_curves.h"

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "format/batches/encode_batch_for_tests.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/answer/memory/answer.h"
#include "readers/replay/heap/heap_history.h"
#include "readers/testing/heap_run_for_tests.h"
#include "readers/testing/page_run_for_tests.h"
#include "readers/testing/program_test_util.h"

namespace pymemrun {
namespace {

using ::testing::ElementsAre;

// Each step between would be a look at all that is alive.
TEST(PlaceCurvesTest, EndWithTheRunWhateverTimesEventsClaim) {
  constexpr uint64_t kFarUs = uint64_t{1} << 50;
  StringSink bytes;
  RunBuilder builder(&bytes);
  Header header = RunBuilder::DefaultHeader();
  header.set_heap(HEAP_ALL);
  builder.AddHeader(header);
  builder.AddThread("MainThread", 1);
  const uint32_t stack =
      builder.AddStack(0, builder.AddCode("/src/a.py", "f", 1), 3);
  builder.AddHeap({AllocEvent(1000, 0x1000, 64, stack),
                   AllocEvent(kFarUs, 0x2000, 4096, stack)});
  builder.Flush();
  TempFile path(bytes.contents());
  const Console console{"test", nullptr};
  const auto file = RereadFile::Open(path.path(), console);
  Answer answer;
  answer.facts.OnHeader(header);
  PlaceCurves curves;
  ASSERT_TRUE(
      ReadPlaceCurves(file.get(), answer, GroupBy::kLine, {1000, 10}, &curves));
  const auto* const history =
      dynamic_cast<const HeapHistoryReplay*>(curves.names.get());
  ASSERT_NE(history, nullptr);
  EXPECT_EQ(history->Result({.top = 1}).time_us.size(), 10u);
  ASSERT_EQ(curves.bytes.size(), 1u);
  const std::vector<double> expected = {0, 64, 64, 64, 64, 64, 64, 64, 64, 64};
  EXPECT_EQ(curves.bytes.begin()->second, expected);
}

constexpr uint64_t kMiB = 1 << 20, kPage = 4096, kSecondUs = 1000000;

// At 1 s line 3 makes an mmap object of 40 MiB, and line 4 fills it. At 2 s
// line 5 reads 20 MiB of a file. At 3 s line 6 allocates 200 MiB, and fills 10
// of them. Line 7 has a block of 8 MiB until 7 s.
std::string HoldersRun(bool with_footer) {
  StringSink sink;
  RunBuilder builder(&sink);
  Header header = RunBuilder::DefaultHeader();
  header.set_cwd("/src");
  header.set_page_period(1);
  header.set_calls_off(true);
  header.set_heap(HEAP_ALL);
  header.set_heap_native(true);
  builder.AddHeader(header);
  builder.AddThread("MainThread", 4711);
  const uint32_t code = builder.AddCode("/src/job.py", "<module>", 1);
  const uint32_t none = builder.AddMapping("");
  const uint32_t file = builder.AddMapping("/data/table.bin");
  const uint32_t mmap = builder.AddMapping("/usr/lib/mmap.cpython-311.so");
  builder.AddResidency(0, 10, kMiB, {{1, 256, none, false, false}});
  const auto stack = [&](int line) { return builder.AddStack(0, code, line); };
  const auto block = [&](uint64_t second, uint64_t address, uint64_t mib,
                         int line, HeapAllocator allocator) {
    HeapEvent event =
        AllocEvent(second * kSecondUs - 200, address, mib * kMiB, stack(line));
    event.allocator = allocator;
    if (allocator == HEAP_MMAP) event.code = mmap;
    builder.AddHeap({event});
  };
  const auto touch = [&](uint64_t second, uint64_t address, uint64_t mib,
                         int line, uint32_t mapping) {
    PageEntry pages = RangeEntry(second * kSecondUs - 100, PAGES_POPULATED,
                                 address / kPage, mib * kMiB / kPage);
    pages.stack = stack(line);
    pages.mapping = mapping;
    builder.AddPages({pages});
  };
  constexpr uint64_t kStart = uint64_t{1} << 32;
  block(1, kStart, 40, 3, HEAP_MMAP);
  touch(1, kStart, 40, 4, none);
  touch(2, 2 * kStart, 20, 5, file);
  block(3, 3 * kStart, 200, 6, HEAP_MALLOC);
  touch(3, 3 * kStart, 10, 6, none);
  block(3, 4 * kStart, 8, 7, HEAP_MALLOC);
  touch(3, 4 * kStart, 8, 7, none);
  // The peak.
  touch(5, 4 * kStart + 8 * kMiB, 2, 8, none);
  builder.AddHeap({FreeEvent(7 * kSecondUs - 200, 4 * kStart)});
  builder.AddPages({RangeEntry(7 * kSecondUs - 199, PAGES_UNMAPPED,
                               4 * kStart / kPage, 10 * kMiB / kPage)});
  builder.AddProcess(9 * kSecondUs, 71 * kMiB, 81 * kMiB);
  if (with_footer) {
    Record record;
    record.mutable_footer()->set_end_us(9 * kSecondUs);
    record.mutable_footer()->set_hwm_bytes(81 * kMiB);
    builder.AddRecord(record);
  }
  builder.Flush();
  return sink.contents();
}

// MiB that lines held at each second.
std::map<uint32_t, std::vector<double>> CurvesOf(const std::string& contents) {
  TempFile path(contents);
  const Console console{"test", nullptr};
  const auto file = RereadFile::Open(path.path(), console);
  const auto answer = ReadAnswer(file.get());
  std::map<uint32_t, std::vector<double>> curves;
  for (const auto& [place, bytes] : answer->over_time.bytes) {
    std::vector<double>& curve = curves[place.line];
    for (const double value : bytes) {
      curve.push_back(std::round(value / kMiB));
    }
    curve.resize(Answer::kSteps);
  }
  return curves;
}

TEST(PlaceCurvesTest, AreOfWhatLinesHold) {
  for (const bool with_footer : {true, false}) {
    auto curves = CurvesOf(HoldersRun(with_footer));
    EXPECT_THAT(curves[3], ElementsAre(0, 40, 40, 40, 40, 40, 40, 40, 40, 40));
    EXPECT_THAT(curves[5], ElementsAre(0, 0, 20, 20, 20, 20, 20, 20, 20, 20));
    EXPECT_THAT(curves[6], ElementsAre(0, 0, 0, 10, 10, 10, 10, 10, 10, 10));
    EXPECT_THAT(curves[7], ElementsAre(0, 0, 0, 8, 8, 8, 8, 0, 0, 0));
  }
}

// In a thread of a library, while line 5 waits in its call, RSS rises at 2 s by
// 20 MiB of a file. It is scanned afterwards, or never. Or it rises in line 5
// itself, before its next call.
std::string ScannedFileRun(bool calls, bool is_scanned, bool in_own = false) {
  StringSink sink;
  RunBuilder builder(&sink);
  Header header = RunBuilder::DefaultHeader();
  header.set_cwd("/src");
  header.set_page_scan(true);
  header.set_calls_off(!calls);
  header.set_heap(HEAP_ALL);
  header.set_heap_native(true);
  header.set_first_rss_bytes(4 * kMiB);
  builder.AddHeader(header);
  builder.AddThread("MainThread", 4711);
  builder.AddThread("reader", 4712);
  const std::string library = "/usr/lib/python3/dist-packages/pandas/io.py";
  const uint32_t five =
      builder.AddStack(0, builder.AddCode("/src/job.py", "<module>", 1), 5);
  const uint32_t code = builder.AddCode(library, "read_csv", 1);
  const uint32_t called = builder.AddStack(five, code, 2);
  const uint32_t worker =
      builder.AddStack(0, builder.AddCode(library, "work", 1), 7);
  std::vector<ResidentRange> seen = {
      {100, 4 * kMiB / kPage, builder.AddMapping(""), false, false}};
  builder.AddResidency(0, 10, 4 * kMiB, seen);
  Row call = MakeRow(1, kSecondUs, builder.AddSite(CALL, code, 1), 4 * kMiB, 0);
  call.stack = called;
  Row growth = MakeRow(2, 2 * kSecondUs, call.site, 24 * kMiB, 20 * kMiB);
  growth.stack = in_own ? called : worker;
  growth.thread = in_own ? 1 : 2;
  builder.AddRecord(EncodeRows({call, growth}, /*stacks=*/true));
  HeapEvent block = AllocEvent(2 * kSecondUs, 100 * kPage, 64, worker);
  block.thread = 2;
  builder.AddHeap({block});
  if (is_scanned) {
    seen.push_back({1 << 20, 20 * kMiB / kPage,
                    builder.AddMapping("/data/rows.csv"), true, false});
    builder.AddResidency(2100000, 2100100, 24 * kMiB, seen);
  }
  Record record, footer;
  ProcessSample* const sample = record.mutable_process();
  sample->set_time_us(is_scanned ? 2200000 : 1990000);
  sample->set_rss_bytes(24 * kMiB);
  sample->set_hwm_bytes(24 * kMiB);
  sample->set_file_bytes(20 * kMiB);
  builder.AddRecord(record);
  footer.mutable_footer()->set_end_us(9 * kSecondUs);
  builder.AddRecord(footer);
  builder.Flush();
  return sink.contents();
}

// A scan does not tell who touched pages. Rows tell where RSS rose.
TEST(PlaceCurvesTest, FilesByScanAreOfTheLineThatRan) {
  const Console console{"test", nullptr};
  for (const bool calls : {true, false}) {
    for (const bool is_scanned : {true, false}) {
      const TempFile path(ScannedFileRun(calls, is_scanned));
      const auto answer =
          ReadAnswer(RereadFile::Open(path.path(), console).get());
      ASSERT_NE(answer, nullptr);
      const MemorySplit& peak = answer->peak.split;
      EXPECT_EQ(peak.file_bytes, 20 * kMiB) << calls << is_scanned;
      ASSERT_FALSE(peak.places.empty());
      EXPECT_EQ(peak.places[0].file_bytes, 20 * kMiB);
      EXPECT_EQ(peak.places[0].place.line, calls ? 5u : 0u) << is_scanned;
      EXPECT_EQ(peak.places[0].waits_bytes > 0, calls);
      if (!is_scanned || !calls) continue;
      const auto& curve = answer->over_time.bytes.at(peak.places[0].place);
      EXPECT_EQ(curve[1], 0);
      EXPECT_EQ(std::round(curve[9] / kMiB), 20);
    }
  }
}

// It may have risen on an earlier line, since the event before.
TEST(PlaceCurvesTest, FilesByScanAreOfNoLineWhereThatIsNotSure) {
  const Console console{"test", nullptr};
  for (const bool is_scanned : {true, false}) {
    const TempFile path(ScannedFileRun(true, is_scanned, /*in_own=*/true));
    const auto answer =
        ReadAnswer(RereadFile::Open(path.path(), console).get());
    ASSERT_NE(answer, nullptr);
    const MemorySplit& peak = answer->peak.split;
    ASSERT_FALSE(peak.places.empty());
    EXPECT_EQ(peak.places[0].file_bytes, 20 * kMiB);
    EXPECT_EQ(peak.places[0].place.line, 0u) << is_scanned;
  }
}

}  // namespace
}  // namespace pymemrun
