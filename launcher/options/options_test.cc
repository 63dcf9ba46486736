#include "launcher/options/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/options/options_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(OptionsTest, Defaults) {
  Options options = Read({"s.py"}).options;
  EXPECT_EQ(options.min_drss_bytes,
            static_cast<uint64_t>(sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(options.context, 1u);
  EXPECT_EQ(options.kinds, 0x1fu);
  EXPECT_TRUE(options.traces.has(Trace::kCalls) &&
              options.traces.has(Trace::kPages));
  EXPECT_FALSE(options.trace_given);
  EXPECT_EQ(options.heap.mode, HeapMode::kSampled);
  EXPECT_TRUE(options.heap.native);
  EXPECT_FALSE(options.quiet);
  EXPECT_EQ(options.rss_source, GaugeSource::kAuto);
}

TEST(OptionsTest, ReadsEveryValue) {
  ReadResult result = Read({"--trace",
                            "calls,pages",
                            "--min-drss",
                            "0",
                            "--min-call-drss",
                            "1M",
                            "--drss-since",
                            "logged",
                            "--context",
                            "0",
                            "--events",
                            "call,c_return",
                            "--include",
                            "/a/*",
                            "--include=/b",
                            "--exclude",
                            "/c",
                            "--function",
                            "f",
                            "--thread",
                            "t",
                            "--stacks",
                            "--rss-source",
                            "statm",
                            "--heap",
                            "off",
                            "--follow",
                            "none",
                            "--paused",
                            "--on-full",
                            "drop",
                            "--compress",
                            "none",
                            "--no-argv",
                            "--trace-startup",
                            "--quiet",
                            "--force",
                            "--python",
                            "/p",
                            "--output",
                            "x",
                            "s.py"});
  ASSERT_TRUE(result.ok) << result.error;
  const Options& options = result.options;
  EXPECT_TRUE(options.traces.has(Trace::kCalls) &&
              options.traces.has(Trace::kPages));
  EXPECT_EQ(options.min_drss_bytes, 0u);
  EXPECT_EQ(options.min_call_drss_bytes, 1u << 20);
  EXPECT_TRUE(options.drss_since_logged && options.stacks && options.paused);
  EXPECT_TRUE(options.no_argv && options.trace_startup && options.force);
  EXPECT_EQ(options.context, 0u);
  EXPECT_EQ(options.kinds, 0x09u);
  EXPECT_THAT(options.include, ElementsAre("/a/*", "/b"));
  EXPECT_EQ(options.rss_source, GaugeSource::kStatm);
  EXPECT_EQ(options.on_full, OnFull::kDrop);
  EXPECT_EQ(options.compress_level, kNoCompression);
  EXPECT_EQ(options.python, "/p");
}

TEST(OptionsTest, WithoutHeapEventsNothingIsNative) {
  EXPECT_FALSE(Read({"--heap=off", "s.py"}).options.heap.native);
  EXPECT_FALSE(Read({"--heap=off", "s.py"}, {{"PYMEMRUN_NATIVE", "1"}})
                   .options.heap.native);
  EXPECT_FALSE(Read({"--heap=stats", "s.py"}).options.heap.native);
}

TEST(OptionsTest, LightAndFullStandForSeveralOptions) {
  Options options = Read({"--light", "s.py"}).options;
  EXPECT_FALSE(options.traces.has(Trace::kCalls));
  EXPECT_TRUE(options.traces.has(Trace::kPages) && options.trace_given);
  EXPECT_EQ(options.heap.mode, HeapMode::kSampled);
  EXPECT_TRUE(options.heap.native);
  EXPECT_EQ(options.page_source, PageSource::kScan);
  for (const char* asked : {"--page-source=faults", "--page-source=scan"}) {
    EXPECT_EQ(Read({"--light", asked, "s.py"}).options.page_source,
              Read({asked, "--light", "s.py"}).options.page_source);
  }
  EXPECT_EQ(
      Read({"--light", "--page-source=faults", "s.py"}).options.page_source,
      PageSource::kFaults);
  options = Read({"--full", "s.py"}).options;
  EXPECT_EQ(options.page_source, PageSource::kAuto);
  EXPECT_TRUE(options.traces.has(Trace::kCalls) &&
              options.traces.has(Trace::kPages));
  EXPECT_EQ(options.heap.mode, HeapMode::kAll);
  EXPECT_TRUE(options.heap.native);
}

TEST(OptionsTest, WhatIsGivenBesideLightOrFullWins) {
  for (const std::vector<const char*>& line :
       {std::vector<const char*>{"--full", "--trace=none", "--no-native"},
        {"--trace=none", "--no-native", "--full"}}) {
    std::vector<const char*> words = line;
    words.push_back("s.py");
    const Options options = Read(words).options;
    EXPECT_FALSE(options.traces.has(Trace::kCalls) ||
                 options.traces.has(Trace::kPages));
    EXPECT_EQ(options.heap.mode, HeapMode::kAll);
    EXPECT_FALSE(options.heap.native);
  }
  EXPECT_EQ(Read({"--full", "--light", "s.py"}).error,
            "give one of --full and --light");
  const Options full =
      Read({"--full", "s.py"}, {{"PYMEMRUN_LIGHT", "1"}}).options;
  EXPECT_EQ(full.heap.mode, HeapMode::kAll);
  EXPECT_EQ(full.page_source, PageSource::kAuto);
}

TEST(OptionsTest, AWrongValueIsRefusedWithWhatIsExpected) {
  const std::vector<std::vector<const char*>> lines = {
      {"--min-drss", "much"},
      {"--min-drss", "-1"},
      {"--min-call-drss", "0"},
      {"--context", "-1"},
      {"--context", "1025"},
      {"--events", "calls"},
      {"--events", ""},
      {"--trace", "heap"},
      {"--trace", "gil,none"},
      {"--trace=gil", "--gil-min", "1"},
      {"--trace=gil", "--gil-min", "0ms"},
      {"--trace=gil", "--gil-min", "4000s"},
      {"--trace=gil", "--gil-min", "ms"},
      {"--compress", "20"},
      {"--compress", "0"},
      {"--on-full", "wait"},
      {"--rss-source", "x"},
      {"--follow", "x"},
      {"--objects", "never"},
      {"--objects", "exit,"},
      {"--objects", "signal:KILL"},
      {"--objects", "signal:RTMIN+x"},
      {"--objects", "every:5"},
      {"--objects", "every:5ms"},
      {"--objects", "rss>"},
      {"--heap", "on"},
      {"--heap-rates", "{9:2}"},
      {"--heap-rates", "{9:0.1,8:0.1}"},
      {"--heap-domains", "none"},
      {"--output="},
      {"-o", "-"},
      {"--include="}};
  for (const auto& words : lines) {
    ReadResult result = Read(words);
    EXPECT_FALSE(result.ok) << words[0] << " " << words.back();
    EXPECT_THAT(result.error, HasSubstr("is not")) << words[0];
  }
  EXPECT_EQ(Read({"--min-drss", "much"}).error,
            "--min-drss: 'much' is not a whole number of bytes such as 4096, "
            "4KiB or 1M");
}

TEST(OptionsTest, WhichChildrenAreFollowed) {
  EXPECT_EQ(Read({}).options.follow, Follow::kFork);
  EXPECT_EQ(Read({"--follow", "none"}).options.follow, Follow::kNone);
  EXPECT_EQ(Read({"--follow", "fork"}).options.follow, Follow::kFork);
  EXPECT_EQ(Read({"--follow", "all"}).options.follow, Follow::kAll);
}

TEST(OptionsTest, HelpIsReadWithTheOthers) {
  EXPECT_TRUE(Read({"--native", "--help"}).ok);
  EXPECT_TRUE(Read({"--native", "--help-all"}).options.help_all);
}

TEST(OptionsTest, VariablesAreDefaults) {
  std::map<std::string, std::string> variables = {
      {"PYMEMRUN_MIN_DRSS", "1M"}, {"PYMEMRUN_QUIET", "1"},
      {"PYMEMRUN_STACKS", "0"},    {"PYMEMRUN_INCLUDE", "/a:/b"},
      {"PYMEMRUN_OUTPUT", ""},     {"PYMEMRUN_HELP", "1"},
      {"PYMEMRUN_HELP_ALL", "1"}};
  Options options = Read({"s.py"}, variables).options;
  EXPECT_EQ(options.min_drss_bytes, 1u << 20);
  EXPECT_TRUE(options.quiet);
  EXPECT_TRUE(options.stacks);
  EXPECT_FALSE(options.help || options.help_all);
  EXPECT_THAT(options.include, ElementsAre("/a", "/b"));
  options = Read({"--include", "/c", "--min-drss=8", "s"}, variables).options;
  EXPECT_EQ(options.min_drss_bytes, 8u);
  EXPECT_THAT(options.include, ElementsAre("/c"));
}

TEST(OptionsTest, ABadVariableIsNamed) {
  EXPECT_THAT(Read({"s"}, {{"PYMEMRUN_CONTEXT", "x"}}).error,
              HasSubstr("PYMEMRUN_CONTEXT: 'x' is not"));
  EXPECT_EQ(Read({"s"}, {{"PYMEMRUN_FORCE", "x"}}).error,
            "PYMEMRUN_FORCE: 'x' is not 0 or 1");
}

}  // namespace
}  // namespace pymemrun
