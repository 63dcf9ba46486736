#include "collector/process/launch_text.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "collector/process/process_stats.h"
#include "format/limits.h"

namespace pymemrun {
namespace {

TEST(LaunchTextTest, EveryKeyFindsItsField) {
  const char text[] =
      "tool_version=0.1\0pid=5\0parent_pid=4\0argv=a=b\0argv=\0python=/p\0"
      "output=run.pb\0reporter=/bin/"
      "r\0min_drss_bytes=4096\0min_call_drss_bytes=8192\0context=1\0kinds="
      "5\0include=*.py\0"
      "include=x\0thread=T*\0stacks=1\0not_recorded=calls: x\0nonsense\0"
      "start_ticks=77\0parent_start_ticks=66\0forked=1\0children=run.*.pb\0"
      "earlier_tsc=500\0earlier_monotonic_ns=600\0"
      "unknown=1\0pid2=x";
  const LaunchText launch = ParseLaunchText({text, sizeof(text)});
  const Header& header = launch.header;
  EXPECT_EQ(header.tool_version(), "0.1");
  EXPECT_EQ(header.pid(), 5u);
  EXPECT_EQ(header.parent_pid(), 4u);
  EXPECT_EQ(header.process_start_ticks(), 77u);
  EXPECT_EQ(header.parent_start_ticks(), 66u);
  EXPECT_TRUE(header.forked());
  EXPECT_EQ(launch.earlier_tsc, 500u);
  EXPECT_EQ(launch.earlier_monotonic_ns, 600u);
  EXPECT_EQ(launch.children, "run.*.pb");
  ASSERT_EQ(header.argv_size(), 2);
  EXPECT_EQ(header.argv(0), "a=b");
  EXPECT_EQ(header.argv(1), "");
  EXPECT_EQ(launch.output, "run.pb");
  EXPECT_EQ(launch.reporter, "/bin/r");
  EXPECT_EQ(header.filters().min_drss_bytes(), 4096u);
  EXPECT_EQ(header.filters().min_call_drss_bytes(), 8192u);
  ASSERT_EQ(header.filters().kinds_size(), 2);
  EXPECT_EQ(header.filters().kinds(1), C_CALL);
  EXPECT_EQ(header.filters().include_size(), 2);
  EXPECT_EQ(header.filters().thread(0), "T*");
  EXPECT_TRUE(header.filters().stacks());
  EXPECT_EQ(header.not_recorded(), "calls: x");
}

TEST(LaunchTextTest, ArgumentsThatReadersWouldNotAcceptAreLeftOut) {
  std::string text = "argv=python3";
  text += '\0';
  for (int i = 0; i < 48; ++i)
    text += "argv=" + std::string(131071, 'x') + '\0';
  const Header header = ParseLaunchText(text + "pid=5").header;
  EXPECT_EQ(header.argv(0), "python3");
  EXPECT_GT(header.argv_size(), 10);
  EXPECT_LT(header.ByteSizeLong(), kMaxKnownRecordBytes);
  EXPECT_EQ(header.pid(), 5u);
}

TEST(LaunchTextTest, PageEventsAreThereWhenTheirCountersAreNamed) {
  const char text[] =
      "page_counters=4\0page_period=8\0pages_user_only=1\0page_weight=5\0";
  LaunchText launch = ParseLaunchText({text, sizeof(text)});
  EXPECT_TRUE(launch.traces.has(Trace::kPages));
  EXPECT_EQ(launch.page_counters, 4u);
  EXPECT_EQ(launch.header.page_period(), 8u);
  EXPECT_EQ(launch.header.page_weight(), 5u);
  EXPECT_TRUE(launch.header.pages_user_only());
  EXPECT_FALSE(launch.header.calls_off());
  EXPECT_EQ(ParseLaunchText("page_counters=4").header.page_period(), 1u);
  launch = ParseLaunchText("calls_off=1");
  EXPECT_FALSE(launch.traces.has(Trace::kPages));
  EXPECT_TRUE(launch.header.calls_off());
  EXPECT_EQ(launch.header.page_period(), 0u);
}

TEST(LaunchTextTest, TheLevelOfCompressionMayBeNegative) {
  EXPECT_EQ(ParseLaunchText("").compress_level, 1);
  EXPECT_EQ(ParseLaunchText("compress_level=19").compress_level, 19);
  EXPECT_EQ(ParseLaunchText("compress_level=-1000").compress_level,
            kNoCompression);
  EXPECT_EQ(ParseLaunchText("compress_level=fast").compress_level, 1);
}

TEST(LaunchTextTest, TextOfLinesIsStoredIfAsked) {
  EXPECT_FALSE(ParseLaunchText("store_source=0").store_source);
  EXPECT_TRUE(ParseLaunchText("store_source=1").store_source);
}

TEST(LaunchTextTest, CountersHaveATime) {
  EXPECT_EQ(ParseLaunchText("pid=1").counters_every_ms, 0u);
  EXPECT_EQ(ParseLaunchText(std::string("counters_every_ms=100\0", 22))
                .counters_every_ms,
            100u);
}

TEST(LaunchTextTest, NoTextIsNoError) {
  EXPECT_EQ(ParseLaunchText("").output, "");
  EXPECT_EQ(ParseLaunchText("pid=notanumber").header.pid(), 0u);
}

TEST(LaunchTextTest, TheStartCompletesTheHeader) {
  StartFacts start = {};
  start.statm_step_pages = 2;
  start.monotonic_ns = 9;
  std::fill_n(start.rss_source_reason, sizeof(start.rss_source_reason), 'r');
  Header header;
  AddStartToHeader(&start, 4096, &header);
  EXPECT_EQ(header.statm_step_bytes(), 8192u);
  EXPECT_EQ(header.start_monotonic_ns(), 9u);
  EXPECT_EQ(header.rss_source_reason().size(), sizeof(start.rss_source_reason));
  Header unstarted;
  AddStartToHeader(nullptr, 4096, &unstarted);
  EXPECT_EQ(unstarted.page_bytes(), 4096u);
  EXPECT_GT(unstarted.start_realtime_ns(), 1000000000000000000u);
  EXPECT_EQ(unstarted.rss_source_reason(), "");
}

TEST(LaunchTextTest, HeapKeysAreHeaderAndRates) {
  const char mean[] = "heap=1\0heap_native=1\0heap_mean_bytes=65536";
  LaunchText launch = ParseLaunchText({mean, sizeof(mean)});
  EXPECT_EQ(launch.header.heap(), HEAP_SAMPLED);
  EXPECT_TRUE(launch.header.heap_native());
  EXPECT_EQ(launch.heap_rates.mean_bytes(), 65536u);
  const char text[] =
      "heap=2\0heap_class=128:1e-4\0heap_class=8192:0.1\0heap=9";
  launch = ParseLaunchText({text, sizeof(text)});
  EXPECT_EQ(launch.header.heap(), HEAP_ALL);
  EXPECT_EQ(launch.heap_rates.mean_bytes(), 0u);
  ASSERT_EQ(launch.heap_rates.classes_size(), 2);
  EXPECT_EQ(launch.heap_rates.classes(0).below_bytes(), 128u);
  EXPECT_EQ(launch.heap_rates.classes(0).probability(), 1e-4);
  EXPECT_EQ(launch.heap_rates.classes(1).below_bytes(), 8192u);
  EXPECT_EQ(launch.heap_rates.classes(1).probability(), 0.1);
}

TEST(ProcessStatsTest, ParsesWhatProcSaysOfAThread) {
  const ThreadStat stat = ParseThreadStat(
      "12 (a) (b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 777 20 21");
  EXPECT_EQ(stat.name, "a) (b");
  EXPECT_EQ(stat.start_ticks, 777u);
  EXPECT_EQ(ParseThreadStat("12 (a) S 1 2").start_ticks, 0u);
  EXPECT_EQ(ParseThreadStat("").name, "");
}

TEST(ProcessStatsTest, ParsesWhatProcSays) {
  ProcessSample sample;
  ParseStat("12 (a) b) (c) R 1 2 3 4 5 6 7 8 9 10 250 50 0 0", &sample);
  EXPECT_EQ(sample.user_us(), 2500000u);
  EXPECT_EQ(sample.system_us(), 500000u);
  EXPECT_EQ(sample.minor_faults(), 7u);
  EXPECT_EQ(sample.major_faults(), 9u);
  ParseStatus("Name:\tx\nVmHWM:\t  2000 kB\nVmRSS:\t 1000 kB\n", &sample);
  EXPECT_EQ(sample.hwm_bytes(), 2048000u);
  EXPECT_EQ(sample.rss_bytes(), 1024000u);
  EXPECT_EQ(sample.file_bytes(), 0u);
  ParseStatus("Name:\tx\nRssAnon:\t 9 kB\nRssFile:\t 3 kB\nRssShmem:\t 1 kB\n",
              &sample);
  EXPECT_EQ(sample.file_bytes(), 4096u);
  ParseStat("", &sample);
  ParseStat("1 (x", &sample);
  ParseStatus("Name:\tx\nState:\tZ (zombie)\n", &sample);
  EXPECT_EQ(sample.hwm_bytes(), 2048000u);
  EXPECT_EQ(sample.user_us(), 2500000u);
}

TEST(ProcessStatsTest, AProcessThatIsNotThereChangesNothing) {
  ProcessStats stats(0x7ffffff0);
  ProcessSample sample;
  sample.set_rss_bytes(7);
  sample.set_user_us(8);
  stats.ReadMemory(&sample);
  stats.ReadTimes(&sample);
  EXPECT_EQ(sample.rss_bytes(), 7u);
  EXPECT_EQ(sample.user_us(), 8u);
  EXPECT_TRUE(stats.IsEnding());
  EXPECT_EQ(stats.ZombieWaitStatus(), absl::nullopt);
}

}  // namespace
}  // namespace pymemrun
