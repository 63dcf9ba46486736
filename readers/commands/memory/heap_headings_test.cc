// What `pymemreport heap` and similar commands say above their tables, and what
// moment the tables show.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/testing/heap_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string HeapText(std::vector<std::string> options) {
  TempFile file(HeapRun().Build());
  options.insert(options.begin(), {"heap", file.path()});
  return Report(options).out;
}

// A file that begins with one code object's stack at line 7, the main module's.
struct OneStackRun {
  explicit OneStackRun(HeapMode mode, bool native = false) {
    Header header = RunBuilder::DefaultHeader();
    header.set_heap(mode);
    header.set_heap_native(native);
    builder.AddHeader(header);
    builder.AddThread("MainThread", 4711);
    stack = builder.AddStack(0, builder.AddCode("/job.py", "<module>", 1), 7);
  }
  std::string Build() {
    builder.Flush();
    return sink.contents();
  }

  StringSink sink;
  RunBuilder builder{&sink};
  uint32_t stack;
};

TEST(HeapHeadingsTest, LeaksByStackBeginAsLeaksDo) {
  const std::string text = HeapText({"--leaks"});
  const std::string first = text.substr(0, text.find('\n') + 1);
  EXPECT_THAT(HeapText({"--leaks", "--stacks"}), StartsWith(first));
}

TEST(HeapHeadingsTest, AMomentThatTheRunLacksIsRefused) {
  TempFile file(HeapRun().Build());
  const std::string name = absl::StrCat("pymemreport: ", file.path(), ": ");
  for (const char* command : {"heap", "snapshot", "flame", "export"}) {
    const Printed late = Report({command, file.path(), "--at", "99"});
    EXPECT_EQ(late.code, 2);
    EXPECT_EQ(late.out, "");
    EXPECT_EQ(late.err,
              name + "--at: 99.000 s is after the run's end, 0.010 s\n");
    const Printed unknown = Report({command, file.path(), "--at", "noon"});
    EXPECT_EQ(unknown.code, 2);
    EXPECT_THAT(unknown.err, HasSubstr("found 'noon'; the run has no marks\n"));
  }
  const auto said = [&](std::vector<std::string> words) {
    words.insert(words.begin() + 1, file.path());
    return Report(words).err;
  };
  EXPECT_THAT(said({"heap", "--to", "noon"}), StartsWith(name + "--to: "));
  EXPECT_THAT(said({"history", "--to", "noon"}), StartsWith(name + "--to: "));
  EXPECT_THAT(said({"history", "--from", "noon"}),
              StartsWith(name + "--from: expected "));
  const std::string longest = said({"heap", "--at", std::string(100000, 'x')});
  EXPECT_LT(longest.size(), name.size() + 300) << longest;
  EXPECT_EQ(Report({"heap", file.path(), "--to", "99"}).code, 0);  // its end
  EXPECT_EQ(Report({"heap", file.path(), "--at", "0.01"}).err, "");
}

// Most is alive at 10 us, RSS is highest at 20 us.
TEST(HeapHeadingsTest, ThePeakIsThatOfRss) {
  OneStackRun run(HEAP_ALL);
  run.builder.AddHeap({AllocEvent(5, 16, 100, run.stack),
                       AllocEvent(10, 32, 1000, run.stack), FreeEvent(11, 32)});
  run.builder.AddProcess(20, 50 << 20, 50 << 20);
  run.builder.AddProcess(30, 40 << 20, 50 << 20);
  TempFile file(run.Build());
  const std::string text = Report({"heap", file.path()}).out;
  EXPECT_THAT(text, StartsWith("live 100 bytes in 1 block at the peak of RSS, "
                               "0.000 s\n"
                               "most live bytes: 1.1 KiB at 0.000 s (--at "
                               "heap-peak)\n"));
  const std::string peak =
      Report({"heap", file.path(), "--at", "heap-peak"}).out;
  EXPECT_THAT(peak, StartsWith("live 1.1 KiB in 2 blocks at the peak of live "
                               "bytes, 0.000 s\n"));
  EXPECT_THAT(peak, Not(HasSubstr("most live bytes")));
}

TEST(HeapHeadingsTest, ADiffTellsOfBothFiles) {
  HeapRun sampled;
  sampled.mode = HEAP_SAMPLED;
  sampled.mean_bytes = 1000;
  TempFile second(sampled.Build());
  const std::string text = HeapText({"--diff", second.path()});
  const size_t after = text.find("after: live ");
  ASSERT_NE(after, std::string::npos);
  EXPECT_THAT(text.substr(0, after), HasSubstr("\nallocated "));
  EXPECT_THAT(text.substr(0, after), Not(HasSubstr("estimated: ")));
  EXPECT_THAT(text.substr(after), HasSubstr("\nallocated "));
  EXPECT_THAT(text.substr(after), HasSubstr("\nestimated: "));
}

// A run of one block, with that RSS half way.
std::string HeadingWithRss(uint64_t rss_bytes, bool native) {
  OneStackRun run(HEAP_ALL, native);
  Record record;
  record.mutable_process()->set_time_us(20);
  record.mutable_process()->set_rss_bytes(rss_bytes);
  run.builder.AddRecord(record);
  run.builder.AddHeap({AllocEvent(20, 16, 100 << 20, run.stack)});
  *record.mutable_footer() = Footer();
  run.builder.AddRecord(record);
  TempFile file(run.Build());
  return Report({"heap", file.path()}).out;
}

TEST(HeapHeadingsTest, MuchRssBeyondTheBlocksIsSaid) {
  const uint64_t gib = 1 << 30, mib = 1 << 20;
  EXPECT_THAT(HeadingWithRss(gib, false),
              HasSubstr("\nRSS was 1.0 GiB, 923.0 MiB beyond these: C code's "
                        "own memory was not recorded; pymemreport timeline "
                        "--by heap shows the rest\n"));
  EXPECT_THAT(HeadingWithRss(gib, true), Not(HasSubstr("beyond these")));
  EXPECT_THAT(HeadingWithRss(190 * mib, false), Not(HasSubstr("beyond these")));
}

TEST(HeapHeadingsTest, SizesThatWereNotRecordedAreSaid) {
  OneStackRun run(HEAP_SAMPLED);
  Record record;
  const std::pair<uint64_t, double> classes[] = {
      {128, 0}, {256, 0.5}, {512, 0}};
  for (const auto& [below, p] : classes) {
    HeapClass* const of = record.mutable_heap_rates()->add_classes();
    of->set_below_bytes(below);
    of->set_probability(p);
  }
  run.builder.AddRecord(record);
  run.builder.AddHeap({AllocEvent(20, 16, 1000, run.stack)});
  TempFile file(run.Build());
  for (const char* command : {"heap", "stats"}) {
    EXPECT_THAT(
        Report({command, file.path()}).out,
        HasSubstr(
            "\nblocks of 0 to 127, 256 to 511 bytes were not recorded: neither "
            "the numbers here nor their standard errors include them\n"));
  }
}

// A file whose footer tells where the program ended.
std::string LeaksWithFooter(const Footer& footer) {
  OneStackRun run(HEAP_ALL);
  const uint32_t begin = run.stack;
  const uint32_t at_exit =
      run.builder.AddStack(0, run.builder.AddCode("/job.py", "close", 3), 4);
  run.builder.AddHeap({AllocEvent(1, 16, 100, begin),
                       AllocEvent(2, 32, 10, begin),
                       AllocEvent(2, 48, 3, at_exit)});
  run.builder.AddHeap({FreeEvent(2, 32), AllocEvent(2, 32, 1, at_exit),
                       FreeEvent(3, 48), FreeEvent(4, 16)});
  Record record;
  *record.mutable_footer() = footer;
  run.builder.AddRecord(record);
  TempFile file(run.Build());
  const Printed printed =
      Report({"heap", file.path(), "--leaks", "--csv", "--by", "function"});
  EXPECT_EQ(printed.err, "");
  return printed.out.substr(printed.out.find('\n') + 1);
}

TEST(HeapHeadingsTest, TheFooterTellsWhereTheProgramEnded) {
  Footer footer;
  footer.set_end_us(5);
  footer.set_heap_allocations(4);
  footer.set_heap_frees(3);
  footer.set_finalize(Footer::FINALIZED);
  footer.set_finalize_us(2);
  footer.set_finalize_heap_events(4);
  EXPECT_EQ(LeaksWithFooter(footer),
            "/job.py,1,<module>,100,1,0.970874\r\n"
            "/job.py,3,close,3,1,0.029126\r\n");
  // Where the file lacks events, or does not tell the number, the time does.
  footer.set_heap_frees(4);
  EXPECT_EQ(LeaksWithFooter(footer),
            "/job.py,1,<module>,100,1,0.961538\r\n"
            "/job.py,3,close,4,2,0.038462\r\n");
  footer.set_finalize(Footer::NOT_FINALIZED);
  EXPECT_EQ(LeaksWithFooter(footer), "/job.py,3,close,1,1,1.000000\r\n");
  footer.set_finalize(Footer::FINALIZE_UNKNOWN);
  EXPECT_EQ(LeaksWithFooter(footer),
            "/job.py,1,<module>,100,1,0.961538\r\n"
            "/job.py,3,close,4,2,0.038462\r\n");
}

// What creeps is there when the program's code ends, and freed soon after.
TEST(HistoryCommandTest, BoundsAreMomentsAsAtTakesThem) {
  const TempFile file(HeapRun().Build());
  const auto times = [&file](std::vector<std::string> options) {
    options.insert(options.begin(), {"history", file.path(), "--csv"});
    const Printed printed = Report(options);
    EXPECT_EQ(printed.code, 0) << printed.err;
    return printed.out;
  };
  EXPECT_EQ(times({"--from", "0%", "--to", "exit"}), times({}));
  EXPECT_EQ(times({"--sort", "growth"}),
            times({"--sort", "growth", "--to", "end"}));
  EXPECT_EQ(Report({"history", file.path(), "--from", "noon"}).code, 2);
}

}  // namespace
}  // namespace pymemrun
