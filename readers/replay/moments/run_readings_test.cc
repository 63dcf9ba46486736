// How often RunMoments reads heap events, which are most of many files.
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "readers/replay/moments/reading_for_tests.h"
#include "readers/replay/moments/run_moments.h"
#include "readers/testing/heap_run_for_tests.h"
#include "readers/testing/run_builder.h"
#include "text/units_for_tests.h"

namespace pymemrun {
namespace {

class RunReadingsTest : public ::testing::Test {
 protected:
  // A line that calls a library, whose thread allocates.
  std::string Run(bool with_thread) {
    StringSink sink;
    RunBuilder builder(&sink);
    Header header = RunBuilder::DefaultHeader();
    header.set_heap(HEAP_ALL);
    header.set_page_period(1);
    builder.AddHeader(header);
    builder.AddThread("MainThread", 4711);
    const std::string library = "/env/lib/python3.11/site-packages/fast/";
    const uint32_t line =
        builder.AddStack(0, builder.AddCode("/job.py", "<module>", 1), 7);
    calls_ = builder.AddStack(
        line, builder.AddCode(library + "read.py", "read", 1), 2);
    const uint32_t works =
        builder.AddStack(0, builder.AddCode(library + "part.py", "part", 1), 3);
    builder.AddProcess(5, 8 * kMiB, 8 * kMiB);
    builder.AddHeap({AllocEvent(10, 16, kMiB, line),
                     AllocEvent(20, 2 * kMiB, kMiB, calls_)});
    if (with_thread) {
      builder.AddThread("worker", 4712);
      builder.AddHeap({AllocEvent(30, 4 * kMiB, kMiB, works, 2)});
    }
    builder.AddProcess(40, 9 * kMiB, 9 * kMiB);
    builder.Flush();
    return sink.contents();
  }
  std::unique_ptr<RunMoments> Read(const std::string& bytes) {
    const ReadRun one_by_one = OneByOne(
        [&bytes](ReplayVisitor* visitor) { return ReadInto(bytes, visitor); });
    return RunMoments::Of([&](absl::Span<ReplayVisitor* const> visitors) {
      ++readings_;
      for (const ReplayVisitor* const visitor : visitors) {
        if (visitor->heap_use() != HeapUse::kEvents) continue;
        ++heap_readings_;
        break;
      }
      return one_by_one(visitors);
    });
  }

  uint32_t calls_ = 0;
  int readings_ = 0, heap_readings_ = 0;
};

TEST_F(RunReadingsTest, OneReadingTellsOfThePeakAndOfWaits) {
  const auto moments = Read(Run(/*with_thread=*/true));
  ASSERT_NE(moments, nullptr);
  EXPECT_EQ(readings_, 2);
  EXPECT_EQ(heap_readings_, 1);
  WaitCursor cursor(moments->hindsight().waits);
  EXPECT_EQ(cursor.At(30, 2, calls_ + 1, 0), calls_);
}

TEST_F(RunReadingsTest, OneThreadWaitsForNobody) {
  const auto moments = Read(Run(/*with_thread=*/false));
  ASSERT_NE(moments, nullptr);
  EXPECT_EQ(heap_readings_, 1);
  EXPECT_EQ(moments->hindsight().waits, nullptr);
}

}  // namespace
}  // namespace pymemrun
