#include "launcher/options/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <map>

namespace pymemrun {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Result {
  bool ok;
  Options options;
  std::string error;
};

Result Read(std::vector<const char*> words,
            std::map<std::string, std::string> variables = {}) {
  words.insert(words.begin(), "pymemrun");
  Result result;
  CommandLine line;
  auto environment = [&variables](const char* name) -> const char* {
    auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
  result.ok = ReadOptions(static_cast<int>(words.size()), words.data(),
                          environment, &result.options, &line, &result.error);
  return result;
}

TEST(OptionsTest, Defaults) {
  Options options = Read({"s.py"}).options;
  EXPECT_EQ(options.min_drss_bytes,
            static_cast<uint64_t>(sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(options.context, 1u);
  EXPECT_EQ(options.kinds, 0x1fu);
  EXPECT_TRUE(options.trace_calls && options.trace_pages);
  EXPECT_FALSE(options.trace_given);
  EXPECT_EQ(options.heap.mode, HeapMode::kSampled);
  EXPECT_TRUE(options.heap.native);
  EXPECT_FALSE(options.quiet);
  EXPECT_EQ(options.rss_source, GaugeSource::kAuto);
}

TEST(OptionsTest, ReadsEveryValue) {
  Result result = Read({"--trace",
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
  EXPECT_TRUE(options.trace_calls && options.trace_pages);
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
  EXPECT_FALSE(options.trace_calls);
  EXPECT_TRUE(options.trace_pages && options.trace_given);
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
  EXPECT_TRUE(options.trace_calls && options.trace_pages);
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
    EXPECT_FALSE(options.trace_calls || options.trace_pages);
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

TEST(OptionsTest, TheGilIsTracedWhereItIsAskedFor) {
  EXPECT_FALSE(Read({"s.py"}).options.trace_gil);
  Options options = Read({"--trace", "gil"}).options;
  EXPECT_TRUE(options.trace_gil);
  EXPECT_FALSE(options.trace_calls || options.trace_pages);
  EXPECT_EQ(options.gil_min_ns, 1000000u);
  options =
      Read({"--trace=calls,pages,gil", "--gil-min", "250us"}).options;
  EXPECT_TRUE(options.trace_gil && options.trace_calls && options.trace_pages);
  EXPECT_EQ(options.gil_min_ns, 250000u);
  EXPECT_EQ(Read({"--trace=calls", "--gil-min", "1ms"}).error,
            "--gil-min has no effect without --trace gil");
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
    Result result = Read(words);
    EXPECT_FALSE(result.ok) << words[0] << " " << words.back();
    EXPECT_THAT(result.error, HasSubstr("is not")) << words[0];
  }
  EXPECT_EQ(Read({"--min-drss", "much"}).error,
            "--min-drss: 'much' is not a whole number of bytes such as 4096, "
            "4KiB or 1M");
}

TEST(OptionsTest, CountersJoinTheRestAndHaveATime) {
  EXPECT_FALSE(Read({}).options.trace_counters);
  Options options = Read({"--trace", "counters"}).options;
  EXPECT_TRUE(options.trace_counters);
  EXPECT_FALSE(options.trace_calls || options.trace_pages);
  EXPECT_EQ(options.counters_every_ms, 100u);
  options =
      Read({"--trace", "calls,counters", "--counters-every", "2s"}).options;
  EXPECT_TRUE(options.trace_counters && options.trace_calls);
  EXPECT_EQ(options.counters_every_ms, 2000u);
  for (const char* wrong : {"9ms", "x", "100", ""}) {
    EXPECT_NE(
        Read({"--trace", "counters", "--counters-every", wrong}).error, "")
        << wrong;
  }
}

TEST(OptionsTest, PageEventsAndHowOftenTheyHaveAStack) {
  Options options = Read({"--trace", "calls,pages"}).options;
  EXPECT_TRUE(options.trace_calls);
  EXPECT_TRUE(options.trace_pages);
  EXPECT_EQ(options.page_period.faults, 7u);
  EXPECT_TRUE(options.page_period.is_least);
  EXPECT_EQ(options.page_weight, 1u);
  options = Read({"--trace", "pages", "--page-period", "1"}).options;
  EXPECT_FALSE(options.trace_calls);
  EXPECT_EQ(options.page_period.faults, 1u);
  EXPECT_FALSE(options.page_period.is_least);
  options = Read({"--trace", "pages", "--page-period", "auto"}).options;
  EXPECT_EQ(options.page_period.faults, 7u);
  EXPECT_TRUE(options.page_period.is_least);
  EXPECT_EQ(options.page_weight, 1u);
  for (const char* wrong : {"0", "-1", "x", "10001", ""}) {
    EXPECT_FALSE(Read({"--trace", "pages", "--page-period", wrong}).ok)
        << wrong;
  }
}

TEST(OptionsTest, WhereOnePageInNIsRecordedAboutSoManySignal) {
  for (const auto& [period, faults] : {std::pair{"2", 7u},
                                       {"7", 7u},
                                       {"8", 11u},
                                       {"10", 11u},
                                       {"100", 101u},
                                       {"10000", 10007u}}) {
    const Options options =
        Read({"--trace", "pages", "--page-period", period}).options;
    EXPECT_EQ(std::to_string(options.page_weight), period);
    EXPECT_EQ(options.page_period.faults, faults);
    EXPECT_TRUE(options.page_period.is_least);
  }
}

TEST(OptionsTest, AnOptionOfWhatIsNotTracedIsRefused) {
  const std::vector<std::vector<const char*>> of_calls = {
      {"--min-drss", "0"},  {"--drss-since", "logged"}, {"--context", "1"},
      {"--events", "call"}, {"--include", "x"},         {"--exclude", "x"},
      {"--function", "x"},  {"--thread", "x"},          {"--stacks"},
      {"--verify-rss"},     {"--min-call-drss", "1M"}};
  for (std::vector<const char*> words : of_calls) {
    const std::string name = words[0];
    EXPECT_TRUE(Read(words).ok) << name;
    for (const char* trace : {"--trace=pages", "--trace=none"}) {
      words.push_back(trace);
      EXPECT_EQ(Read(words).error,
                name + " has no effect without --trace calls");
      words.pop_back();
    }
    words.push_back("--trace=calls,pages");
    EXPECT_TRUE(Read(words).ok) << name;
  }
  EXPECT_EQ(Read({"--trace=calls", "--page-period", "3"}).error,
            "--page-period has no effect without --trace pages");
  EXPECT_FALSE(Read({"--min-drss", "0"}, {{"PYMEMRUN_TRACE", "pages"}}).ok);
}

TEST(OptionsTest, VariablesOfWhatIsNotTracedAreNot) {
  const Result result =
      Read({"--trace", "none"}, {{"PYMEMRUN_MIN_DRSS", "0"},
                                 {"PYMEMRUN_STACKS", "1"},
                                 {"PYMEMRUN_PAGE_PERIOD", "3"}});
  EXPECT_TRUE(result.ok) << result.error;
  EXPECT_FALSE(result.options.trace_calls || result.options.trace_pages);
}

TEST(OptionsTest, TheHeapIsSampledUnlessSaidOtherwise) {
  EXPECT_EQ(Read({"s.py"}).options.heap.mode, HeapMode::kSampled);
  EXPECT_EQ(Read({"--heap=off", "s.py"}).options.heap.mode, HeapMode::kOff);
}

TEST(OptionsTest, HeapRatesAreAMeanOrClassesOrAutomatic) {
  const char* const sampled = "--heap=sampled";
  Options options = Read({sampled}).options;
  EXPECT_EQ(options.heap.mode, HeapMode::kSampled);
  EXPECT_EQ(options.heap.rates.mean_bytes, kGrowsFromBytes);
  EXPECT_TRUE(options.heap.rates.grows);
  EXPECT_FALSE(options.heap.rates.adapt);
  EXPECT_EQ(options.heap.domains, kAllHeapDomains);
  options = Read({sampled, "--heap-rates", "64KiB"}).options;
  EXPECT_EQ(options.heap.rates.mean_bytes, 65536u);
  EXPECT_FALSE(options.heap.rates.grows);
  options = Read({sampled, "--heap-rates", "{128:1e-4, 8192:0}"}).options;
  const HeapRatesConfig& rates = options.heap.rates;
  EXPECT_EQ(rates.mean_bytes, 0u);
  ASSERT_EQ(rates.class_count, 2u);
  EXPECT_EQ(rates.classes[0].below_bytes, 128u);
  EXPECT_EQ(rates.classes[0].probability, 1e-4);
  EXPECT_EQ(rates.classes[1].probability, 0.0);
  options = Read({sampled, "--heap-rates=auto", "--heap-budget=2.5%"}).options;
  EXPECT_TRUE(options.heap.rates.adapt);
  EXPECT_EQ(options.heap.rates.budget, 0.025);
  options = Read({"--heap=all", "--heap-domains=mem,obj"}).options;
  EXPECT_EQ(options.heap.mode, HeapMode::kAll);
  EXPECT_EQ(options.heap.domains, 3u);
  for (const char* wrong :
       {"0", "{}", "{128}", "{128:}", "{128:2}", "{128:-1}", "{128:nan}",
        "{128:.1,128:.2}", "{0:1}", "{128:.1", "128:.1"}) {
    EXPECT_FALSE(Read({sampled, "--heap-rates", wrong}).ok) << wrong;
  }
  for (const char* wrong : {"5", "0%", "101%", "%", "x%"}) {
    EXPECT_FALSE(
        Read({sampled, "--heap-rates=auto", "--heap-budget", wrong}).ok)
        << wrong;
  }
  EXPECT_FALSE(Read({sampled, "--heap-domains", "object"}).ok);
}

TEST(OptionsTest, AnOptionOfAnotherHeapModeIsRefused) {
  EXPECT_EQ(Read({"--heap=all", "--heap-rates=auto"}).error,
            "--heap-rates has no effect without --heap sampled");
  EXPECT_EQ(Read({"--heap=sampled", "--heap-budget=5%"}).error,
            "--heap-budget has no effect without --heap-rates auto");
  EXPECT_EQ(Read({"--heap=stats", "--native"}).error,
            "--native has no effect without --heap sampled or all");
  EXPECT_TRUE(Read({"--heap=all", "--native"}).options.heap.native);
  EXPECT_FALSE(Read({"--heap=all", "--no-native"}).options.heap.native);
  EXPECT_EQ(Read({"--heap=off", "--no-native"}).error,
            "--no-native has no effect without --heap sampled or all");
  EXPECT_EQ(Read({"--heap=off", "--heap-domains=obj"}).error,
            "--heap-domains has no effect without --heap sampled, all or "
            "stats");
}

TEST(OptionsTest, MomentsOfDumps) {
  EXPECT_FALSE(Read({}).options.objects.at_exit);
  EXPECT_EQ(Read({}).options.objects.signal, 0);
  const ObjectsConfig objects =
      Read({"--objects", "exit,signal"}).options.objects;
  EXPECT_TRUE(objects.at_exit);
  EXPECT_EQ(objects.signal, SIGUSR2);
  EXPECT_EQ(Read({"--objects", "signal:SIGHUP"}).options.objects.signal,
            SIGHUP);
  EXPECT_EQ(Read({"--objects", "signal:RTMIN+2"}).options.objects.signal,
            SIGRTMIN + 2);
}

TEST(OptionsTest, MomentsThatTheCollectorSees) {
  const ObjectsConfig objects =
      Read({"--objects", "every:5m,rss>1G,peak"}).options.objects;
  EXPECT_EQ(objects.every_ms, 300000u);
  EXPECT_EQ(objects.rss_above_bytes, uint64_t{1} << 30);
  EXPECT_TRUE(objects.at_peak);
  EXPECT_TRUE(objects.by_collector());
  EXPECT_FALSE(Read({"--objects", "exit"}).options.objects.by_collector());
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
