// The end of a program that was killed, where RSS is read now and then.
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/answer/memory/answer_run_for_tests.h"
#include "readers/answer/memory/answer_text.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Line 3 allocates 40 MiB at 1 s, which a scan finds at 2 s. RSS is read last
// at `read_us`. At 2.98 s the block is freed, and the program ends at 3 s.
struct KilledRun {
  uint64_t read_us = 2950000;
  bool told = false;    // it said how it ended
  bool faults = false;  // page faults tell what comes and goes
  uint64_t last_mib = 44;

  std::string Build() const {
    StringSink sink;
    RunBuilder builder(&sink);
    Header header = RunBuilder::DefaultHeader();
    header.set_page_scan(!faults);
    header.set_page_period(faults ? 1 : 0);
    header.set_heap(HEAP_ALL);
    header.set_heap_native(true);
    header.set_own_bytes(0);
    header.set_first_rss_bytes(4 * kMiB);
    builder.AddHeader(header);
    builder.AddThread("MainThread", 4711);
    const uint32_t three =
        builder.AddStack(0, builder.AddCode("/src/job.py", "<module>", 1), 3);
    const ResidentRange before = {100, 4 * kMiB / kPage,
                                  builder.AddMapping("/lib/x.so"), true, false};
    const ResidentRange heap = {kStart / kPage, 40 * kMiB / kPage,
                                builder.AddMapping("[heap]"), false, false};
    builder.AddResidency(0, 10, 4 * kMiB, {before});
    HeapEvent block = AllocEvent(1000000, kStart, 40 * kMiB, three);
    block.allocator = HEAP_MALLOC;
    builder.AddHeap({block});
    builder.AddResidency(1999990, 2000000, 44 * kMiB, {before, heap});
    builder.AddProcess(read_us, last_mib * kMiB, 44 * kMiB);
    builder.AddHeap({FreeEvent(2980000, kStart)});
    Record record;
    Footer* const footer = record.mutable_footer();
    footer->set_end(Footer::SIGNAL);
    footer->set_end_us(3000000);
    if (told) footer->set_own_bytes(kMiB);
    builder.AddRecord(record);
    builder.Flush();
    return sink.contents();
  }
};

std::unique_ptr<Answer> Read(const KilledRun& run) {
  const TempFile contents(run.Build());
  static const Console console = {"pymemreport", nullptr, 1, 2};
  return ReadAnswer(RereadFile::Open(contents.path(), console).get());
}

// RSS and blocks of one moment: what was freed after it was not free memory.
TEST(KilledRunTest, TheAnswersEndIsWhenRssWasReadLast) {
  const auto answer = Read(KilledRun());
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(answer->end.time_us, 2950000u);
  EXPECT_EQ(answer->end.split.native_bytes, 40 * kMiB);
  EXPECT_EQ(answer->end.split.free_bytes, 0);
  EXPECT_THAT(AnswerText(*answer, {}),
              HasSubstr("Still resident at 2.950 s, 0.050 s before the last "
                        "record: 44 MiB, that is\n40 MiB live blocks"));
}

// RSS may have risen further.
TEST(KilledRunTest, APeakAtTheLastReadingIsTheLeast) {
  EXPECT_THAT(AnswerText(*Read(KilledRun()), {}),
              HasSubstr("Peak at least 44 MiB at 2.000 s. RSS was not read in "
                        "the last 0.050 s."));
  // It had fallen since.
  EXPECT_THAT(AnswerText(*Read(KilledRun{.last_mib = 24}), {}),
              HasSubstr("Peak 44 MiB at 2.000 s. job.py:3"));
}

TEST(KilledRunTest, WhereMoreIsKnownItIsTheEnd) {
  for (const KilledRun& run :
       {KilledRun{.told = true}, KilledRun{.faults = true},
        // Written only where RSS had moved, by earlier collectors.
        KilledRun{.read_us = 2100000}}) {
    const auto answer = Read(run);
    ASSERT_NE(answer, nullptr);
    EXPECT_EQ(answer->end_unknown_us, 0u);
    EXPECT_EQ(answer->end.time_us, 3000000u);
    EXPECT_THAT(AnswerText(*answer, {}), Not(HasSubstr("before the last")));
    EXPECT_THAT(AnswerText(*answer, {}), HasSubstr("Peak 44 MiB at"));
  }
}

TEST(KilledRunTest, ResidentSaysItToo) {
  const TempFile file(KilledRun().Build());
  const Printed printed = Report({"resident", file.path(), "--at", "exit"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(
      printed.out,
      HasSubstr("the last reading of RSS, 0.050 s before exit, 2.950 s"));
  EXPECT_THAT(printed.out, HasSubstr("40.0 MiB"));
  // Blocks are known to the last record.
  EXPECT_THAT(Report({"heap", file.path(), "--at", "exit"}).out,
              HasSubstr("live 0 bytes in 0 blocks at exit, 3.000 s"));
}

}  // namespace
}  // namespace pymemrun
