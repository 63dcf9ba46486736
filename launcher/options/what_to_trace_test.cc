// The options that say what is recorded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "launcher/options/options_for_tests.h"

namespace pymemrun {
namespace {

TEST(WhatToTraceTest, TheGilIsTracedWhereItIsAskedFor) {
  EXPECT_FALSE(Read({"s.py"}).options.traces.has(Trace::kGil));
  Options options = Read({"--trace", "gil"}).options;
  EXPECT_TRUE(options.traces.has(Trace::kGil));
  EXPECT_FALSE(options.traces.has(Trace::kCalls) ||
               options.traces.has(Trace::kPages));
  EXPECT_EQ(options.gil_min_ns, 1000000u);
  options = Read({"--trace=calls,pages,gil", "--gil-min", "250us"}).options;
  EXPECT_TRUE(options.traces.has(Trace::kGil) &&
              options.traces.has(Trace::kCalls) &&
              options.traces.has(Trace::kPages));
  EXPECT_EQ(options.gil_min_ns, 250000u);
  for (const char* const hour : {"3600000000us", "3600000ms", "3600s"}) {
    options = Read({"--trace=gil", "--gil-min", hour}).options;
    EXPECT_EQ(options.gil_min_ns, uint64_t{3600} * 1000000000) << hour;
  }
  for (const char* const wrong : {"3600000001us", "99999999999us", "0ms"}) {
    EXPECT_THAT(Read({"--trace=gil", "--gil-min", wrong}).error,
                testing::HasSubstr("from 1us to 1 hour"));
  }
  EXPECT_EQ(Read({"--trace=calls", "--gil-min", "1ms"}).error,
            "--gil-min has no effect without --trace gil");
}

TEST(WhatToTraceTest, CountersJoinTheRestAndHaveATime) {
  EXPECT_FALSE(Read({}).options.traces.has(Trace::kCounters));
  Options options = Read({"--trace", "counters"}).options;
  EXPECT_TRUE(options.traces.has(Trace::kCounters));
  EXPECT_FALSE(options.traces.has(Trace::kCalls) ||
               options.traces.has(Trace::kPages));
  EXPECT_EQ(options.counters_every_ms, 100u);
  options =
      Read({"--trace", "calls,counters", "--counters-every", "2s"}).options;
  EXPECT_TRUE(options.traces.has(Trace::kCounters) &&
              options.traces.has(Trace::kCalls));
  EXPECT_EQ(options.counters_every_ms, 2000u);
  for (const char* wrong : {"9ms", "x", "100", ""}) {
    EXPECT_NE(Read({"--trace", "counters", "--counters-every", wrong}).error,
              "")
        << wrong;
  }
}

TEST(WhatToTraceTest, PageEventsAndHowOftenTheyHaveAStack) {
  Options options = Read({"--trace", "calls,pages"}).options;
  EXPECT_TRUE(options.traces.has(Trace::kCalls));
  EXPECT_TRUE(options.traces.has(Trace::kPages));
  EXPECT_EQ(options.page_period.faults, 7u);
  EXPECT_TRUE(options.page_period.is_least);
  EXPECT_EQ(options.page_weight, 1u);
  options = Read({"--trace", "pages", "--page-period", "1"}).options;
  EXPECT_FALSE(options.traces.has(Trace::kCalls));
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

TEST(WhatToTraceTest, WhereOnePageInNIsRecordedAboutSoManySignal) {
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

TEST(WhatToTraceTest, AnOptionOfWhatIsNotTracedIsRefused) {
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

TEST(WhatToTraceTest, VariablesOfWhatIsNotTracedAreNot) {
  const ReadResult result =
      Read({"--trace", "none"}, {{"PYMEMRUN_MIN_DRSS", "0"},
                                 {"PYMEMRUN_STACKS", "1"},
                                 {"PYMEMRUN_PAGE_PERIOD", "3"}});
  EXPECT_TRUE(result.ok) << result.error;
  EXPECT_FALSE(result.options.traces.has(Trace::kCalls) ||
               result.options.traces.has(Trace::kPages));
}

TEST(WhatToTraceTest, TheHeapIsSampledUnlessSaidOtherwise) {
  EXPECT_EQ(Read({"s.py"}).options.heap.mode, HeapMode::kSampled);
  EXPECT_EQ(Read({"--heap=off", "s.py"}).options.heap.mode, HeapMode::kOff);
}

TEST(WhatToTraceTest, HeapRatesAreAMeanOrClassesOrAutomatic) {
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

TEST(WhatToTraceTest, AnOptionOfAnotherHeapModeIsRefused) {
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

TEST(WhatToTraceTest, MomentsOfDumps) {
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

TEST(WhatToTraceTest, AKindOfMomentIsGivenOnce) {
  for (const char* list :
       {"signal,signal:USR1", "every:1s,every:5s", "rss>1M,exit,rss>2M"}) {
    EXPECT_THAT(Read({"--objects", list}).error,
                testing::HasSubstr("peak, each at most once"));
  }
  const ObjectsConfig objects =
      Read({"--objects", "exit", "--objects", "every:5s"}).options.objects;
  EXPECT_EQ(objects.every_ms, 5000u);
  EXPECT_TRUE(objects.at_exit);
}

TEST(WhatToTraceTest, MomentsThatTheCollectorSees) {
  const ObjectsConfig objects =
      Read({"--objects", "every:5m,rss>1G,peak"}).options.objects;
  EXPECT_EQ(objects.every_ms, 300000u);
  EXPECT_EQ(objects.rss_above_bytes, uint64_t{1} << 30);
  EXPECT_TRUE(objects.at_peak);
  EXPECT_TRUE(objects.by_collector());
  EXPECT_FALSE(Read({"--objects", "exit"}).options.objects.by_collector());
}

TEST(WhatToTraceTest, DumpsNeedARunFile) {
  EXPECT_FALSE(Read({"--objects", "exit", "--heap", "stats", "s.py"}).ok);
  EXPECT_TRUE(
      Read({"--objects", "exit", "--heap", "stats", "--trace", "none", "s.py"})
          .ok);
  EXPECT_TRUE(Read({"--objects", "exit", "--heap", "off", "s.py"}).ok);
}

}  // namespace
}  // namespace pymemrun
