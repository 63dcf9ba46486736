#include "readers/replay/summary/run_summary.h"

#include <cstdint>
#include <string>
#include <variant>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "readers/testing/heap_run_for_tests.h"
#include "readers/testing/page_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"
#include "readers/testing/small_run_for_tests.h"

namespace pymemrun {
namespace {
class RunFactsTest : public ::testing::Test {
 protected:
  void Read(const std::string& run) {
    StringSource source(run);
    ReadResult result;
    ASSERT_TRUE(
        ReadStream(&source, StreamReader::Options(), &facts_, &result).ok());
  }
  std::string Fact(absl::string_view label) {
    for (const auto& [name, value] : DescribeRun(facts_)) {
      if (name == label) return value;
    }
    return "no such fact";
  }
  // One of SummaryValues().
  Cell Value(absl::string_view name) {
    for (const auto& [known, value] : SummaryValues(facts_, "run.pb", 777)) {
      if (known == name) return value;
    }
    ADD_FAILURE() << "no value " << name;
    return Cell();
  }
  RunFacts facts_;
};

TEST_F(RunFactsTest, ThePeakStandsBesideAnHwmThatIsNoLower) {
  Read(SmallRun().Build());
  EXPECT_EQ(Fact("peak RSS"), "not known");
  const RunPeak peak = {1500000, uint64_t{15} << 20};
  const Descriptions lines = DescribeRun(facts_, peak);
  EXPECT_EQ(lines[4].second, "15.0 MiB at 1.500 s");
  EXPECT_EQ(lines[5].second.substr(0, 8), "15.0 MiB");
  for (const auto& [name, cell] : SummaryValues(facts_, "r", 777, peak)) {
    if (name == "peak_rss_s") {
      EXPECT_EQ(cell, Cell(1.5));
    }
    if (name == "peak_rss_bytes" || name == "vm_hwm_bytes") {
      EXPECT_EQ(cell, Cell(peak.rss_bytes));
    }
  }
}

bool IsUnknown(const Cell& cell) {
  return std::holds_alternative<std::monostate>(cell);
}

TEST_F(RunFactsTest, TheFootersWordCounts) {
  Read(SmallRun().Build());
  EXPECT_EQ(facts_.Events(), 21u);
  EXPECT_EQ(facts_.DurationUs(), 1100u);
  EXPECT_EQ(facts_.HwmBytes(), uint64_t{14} << 20);
  EXPECT_EQ(Fact("highest event"), "13.0 MiB at event 10, 0.000 s");
  EXPECT_EQ(Fact("end"), "exit status 3");
  EXPECT_EQ(Fact("RSS"),
            "8.0 MiB when tracing began, 13.0 MiB highest at an event, 12.0 "
            "MiB at the "
            "last row");
  EXPECT_EQ(Fact("events"),
            "21; in the file 5 rows (3 logged, 2 as context), 1 mark");
  EXPECT_EQ(Fact("tracing itself"),
            "1.0 MiB resident; made by the interpreter because it is profiled: "
            "16.0 KiB of frame objects and 0 bytes of bound objects at most, "
            "2.0 KiB of line numbers");
  EXPECT_EQ(Fact("clock"), "CPU's counter, calibrated against CLOCK_MONOTONIC");
}

TEST_F(RunFactsTest, WithoutCallsNothingIsSaidOfTheirRows) {
  Header header;
  header.set_calls_off(true);
  facts_.OnHeader(header);
  EXPECT_EQ(Fact("events"), "none: calls were not traced");
  for (const char* label : {"filters", "losses", "RSS", "RSS source"}) {
    EXPECT_EQ(Fact(label), "no such fact") << label;
  }
  Footer footer;
  footer.set_events(1);  // the script asked for them after all
  facts_.OnFooter(footer);
  EXPECT_NE(Fact("filters"), "no such fact");
}

TEST_F(RunFactsTest, ObjectsAreCountedWhereEveryEventWasLogged) {
  for (const uint64_t min_drss_bytes : {0, 4096}) {
    RunFacts facts;
    Header header;
    header.mutable_filters()->set_min_drss_bytes(min_drss_bytes);
    facts.OnHeader(header);
    for (uint32_t id = 1; id <= 4; ++id) {
      SiteDef site;
      site.set_id(id);
      site.set_what(id <= 2 ? CALL : C_CALL);
      site.set_makes_object(id % 2 == 1);
      facts.OnSite(site);
    }
    const Row rows[] = {MakeRow(0, 0, 1, 0, 0), MakeRow(1, 0, 2, 0, 0),
                        MakeRow(2, 0, 3, 0, 0), MakeRow(3, 0, 4, 0, 0),
                        MakeRow(4, 0, 3, 0, 0)};
    facts.OnRows(rows, 5);
    const bool all = min_drss_bytes == 0;
    EXPECT_EQ(facts.MadeObjects().frames, all ? 1u : 0u);
    EXPECT_EQ(facts.MadeObjects().bound, all ? 2u : 0u);
  }
}

TEST_F(RunFactsTest, TheClockSaysWhenItWentBack) {
  EXPECT_EQ(Fact("clock"), "not recorded");
  Header header;
  header.set_clock(MONOTONIC);
  facts_.OnHeader(header);
  Footer footer;
  footer.set_clock_steps_back(1234);
  footer.set_worst_clock_step_back_ns(56);
  facts_.OnFooter(footer);
  EXPECT_EQ(Fact("clock"),
            "CLOCK_MONOTONIC: the CPU's counter is not reliable here; it "
            "stepped back at 1,234 rows, by at most 56 ns");
}

TEST_F(RunFactsTest, AVerifiedRunSaysSo) {
  EXPECT_EQ(Fact("RSS verified"), "no such fact");
  Footer footer;
  footer.set_events(1000);
  footer.set_rss_reads(10);
  footer.mutable_rss_verification()->set_events(1000);
  footer.mutable_rss_verification()->set_agreeing(999);
  footer.mutable_rss_verification()->set_worst_staleness_ns(25000);
  facts_.OnFooter(footer);
  EXPECT_EQ(Fact("RSS reads"), "10 times (1.00 % of the events)");
  EXPECT_EQ(Fact("RSS verified").substr(0, 26), "equal to statm at 99.900 %");
  EXPECT_EQ(Value("rss_reads"), Cell(uint64_t{10}));
  EXPECT_EQ(Value("verified_events"), Cell(uint64_t{1000}));
  EXPECT_EQ(Value("agreeing_events"), Cell(uint64_t{999}));
  EXPECT_EQ(Value("worst_staleness_s"), Cell(25e-6));
}

TEST_F(RunFactsTest, WithoutAFooterTheStreamTells) {
  SmallRun run;
  run.with_footer = false;
  Read(run.Build());
  EXPECT_EQ(facts_.Events(), 21u);
  EXPECT_EQ(facts_.DurationUs(), 300u);
  EXPECT_EQ(Fact("end").substr(0, 31), "not known: the file has no foot");
  EXPECT_EQ(Fact("VmHWM"), "not recorded");
  EXPECT_EQ(Fact("losses"), "not known: the file has no footer");
}

TEST_F(RunFactsTest, WhatHappenedBesidesIsCounted) {
  ProfilerGap gap;
  gap.set_from_us(1000000);
  gap.set_to_us(2500000);
  facts_.OnProfilerGap(gap);
  Loss loss;
  loss.set_rows(1234);
  facts_.OnLoss(loss);
  ProcessSample sample;
  sample.set_time_us(2000000);
  sample.set_user_us(900000);
  sample.set_system_us(100000);
  sample.set_hwm_bytes(1 << 30);
  facts_.OnProcess(sample);
  GaugeChange change;
  change.set_number(5);
  change.set_rss_source(HINTS);
  change.set_reason("perf\x1b refused");
  facts_.OnGauge(change);
  Peak peak;
  peak.set_hwm_bytes(1 << 30);
  peak.set_after_number(3);
  peak.set_before_number(4);
  facts_.OnPeak(peak);
  EXPECT_EQ(Fact("profiler gaps").substr(0, 11), "1 (1.500 s)");
  EXPECT_EQ(Fact("losses"), "at least 1,234 rows; the file has no footer");
  EXPECT_TRUE(IsUnknown(Value("dropped_rows")));
  EXPECT_EQ(Fact("CPU"), "0.900 s user, 0.100 s system, 50 % of one core");
  EXPECT_EQ(Fact("RSS source"),
            "unknown; hints from event 5 on (perf\\x1b refused)");
  EXPECT_EQ(Fact("VmHWM"),
            "1.0 GiB, as last sampled, reached between events 3 and 4 "
            "(0.000 s)");
  Footer footer;
  footer.set_dropped(1235);
  facts_.OnFooter(footer);
  EXPECT_EQ(Fact("losses"),
            "1,235 rows on a full ring, 0 rows on failed writes");
  EXPECT_EQ(Value("dropped_rows"), Cell(uint64_t{1235}));
}

TEST_F(RunFactsTest, TheHighestIsWhatTheFooterKnows) {
  Read(SmallRun().Build());
  Footer footer = *facts_.footer;
  footer.set_seen_max_rss_bytes(15 << 20);
  facts_.OnFooter(footer);
  EXPECT_EQ(Fact("RSS"),
            "8.0 MiB when tracing began, 15.0 MiB highest at an event, 12.0 "
            "MiB at the "
            "last row");
  EXPECT_TRUE(absl::EndsWith(Fact("highest event"),
                             "; 15.0 MiB at an event without a row"));
  // From a row that was not written; then from one whose place is lost too.
  footer.set_max_rss_bytes(15 << 20);
  footer.set_max_rss_number(12);
  facts_.OnFooter(footer);
  EXPECT_EQ(Fact("highest event").substr(0, 29),
            "15.0 MiB at event 12, 0.000 s");
  EXPECT_EQ(Value("highest_rss_event"), Cell(uint64_t{12}));
  footer.set_max_rss_bytes(16 << 20);
  footer.set_max_rss_site(0);
  facts_.OnFooter(footer);
  EXPECT_EQ(Fact("highest event"),
            "16.0 MiB at event 12, 0.000 s, a row that is lost");
  EXPECT_TRUE(IsUnknown(Value("highest_rss_file")));
}

TEST_F(RunFactsTest, FiltersAreNamed) {
  EXPECT_EQ(Fact("filters"), "none: every event was logged");
  Header header;
  Filters* filters = header.mutable_filters();
  filters->set_min_drss_bytes(1 << 20);
  filters->set_context(2);
  facts_.OnHeader(header);
  EXPECT_EQ(Fact("filters"),
            "dRSS of 1.0 MiB or more since the event before; 2 events of "
            "context");
  EXPECT_TRUE(IsUnknown(Value("filter_events")));
  filters->set_drss_since_logged(true);
  filters->set_paused(true);
  filters->add_kinds(CALL);
  filters->add_kinds(C_RETURN);
  filters->add_include("*a.py");
  filters->add_include("*\x1b.py");
  filters->add_thread("Main*");
  facts_.OnHeader(header);
  EXPECT_EQ(Fact("filters"),
            "dRSS of 1.0 MiB or more since the last logged event; events "
            "call,c_return; include *a.py *\\x1b.py; thread Main*; 2 events of "
            "context; begun paused");
  EXPECT_EQ(Value("drss_since"), Cell("logged"));
  EXPECT_EQ(Value("filter_events"), Cell("call,c_return"));
  EXPECT_EQ(Value("context_events"), Cell(uint64_t{2}));
  EXPECT_EQ(Value("filter_thread"), Cell("Main*"));
  EXPECT_TRUE(IsUnknown(Value("filter_exclude")));
}

TEST_F(RunFactsTest, TracingBeganWhereTheFirstPauseEnded) {
  Header header;
  header.set_first_rss_bytes(8 << 20);
  facts_.OnHeader(header);
  Pause pause;
  pause.set_to_rss_bytes(20 << 20);
  facts_.OnPause(pause);
  const Row rows[] = {MakeRow(0, 0, 1, 21 << 20, 1 << 20)};
  facts_.OnRows(rows, 1);
  pause.set_next_number(1);
  pause.set_to_rss_bytes(40 << 20);
  facts_.OnPause(pause);
  EXPECT_EQ(Fact("RSS").substr(0, 27), "20.0 MiB when tracing began");
  EXPECT_EQ(facts_.profile().sites()[1].growth_bytes, 1u << 20);
}

TEST_F(RunFactsTest, AnEarlyPeakIsNotWhereALaterMaximumCameFrom) {
  Peak peak;
  peak.set_hwm_bytes(10 << 20);
  facts_.OnPeak(peak);
  Footer footer;
  footer.set_hwm_bytes(14 << 20);
  footer.set_seen_max_rss_bytes(14 << 20);
  footer.set_own_bytes(1 << 20);
  facts_.OnFooter(footer);
  EXPECT_EQ(Fact("VmHWM"), "14.0 MiB");
}

TEST_F(RunFactsTest, OfAProgramThatSaidNothingAtItsEndVmHwmIsThatOfASample) {
  Footer footer;
  footer.set_end(Footer::SIGNAL);
  footer.set_hwm_bytes(14 << 20);
  facts_.OnFooter(footer);
  EXPECT_EQ(Fact("VmHWM"), "14.0 MiB, as last sampled");
}

TEST_F(RunFactsTest, ValuesAreNumbersWithTheirUnitInTheName) {
  Read(SmallRun().Build());
  const uint64_t mib = 1 << 20;
  EXPECT_EQ(Value("run_file"), Cell("run.pb"));
  EXPECT_EQ(Value("command"), Cell("python3 job.py"));
  EXPECT_EQ(Value("started"), Cell("2023-11-14T22:13:20.000000Z"));
  EXPECT_EQ(Value("pid"), Cell(uint64_t{4711}));
  EXPECT_EQ(Value("duration_s"), Cell(0.0011));
  EXPECT_EQ(Value("end"), Cell("exit"));
  EXPECT_EQ(Value("exit_status"), Cell(int64_t{3}));
  EXPECT_TRUE(IsUnknown(Value("signal")));
  EXPECT_EQ(Value("highest_rss_bytes"), Cell(13 * mib));
  EXPECT_EQ(Value("highest_rss_event"), Cell(uint64_t{10}));
  EXPECT_EQ(Value("highest_rss_what"), Cell("C_RETURN"));
  EXPECT_EQ(Value("highest_rss_file"), Cell("/job.py"));
  EXPECT_EQ(Value("highest_rss_line"), Cell(uint64_t{5}));
  EXPECT_EQ(Value("highest_rss_function"), Cell("list.append"));
  EXPECT_EQ(Value("highest_rss_thread"), Cell("MainThread#4711"));
  EXPECT_EQ(Value("last_rss_bytes"), Cell(12 * mib));
  EXPECT_EQ(Value("vm_hwm_bytes"), Cell(14 * mib));
  EXPECT_EQ(Value("events"), Cell(uint64_t{21}));
  EXPECT_EQ(Value("logged_rows"), Cell(uint64_t{3}));
  EXPECT_EQ(Value("dropped_rows"), Cell(uint64_t{0}));
  EXPECT_EQ(Value("own_bytes"), Cell(mib));
  EXPECT_EQ(Value("run_file_bytes"), Cell(uint64_t{777}));
}

TEST_F(RunFactsTest, WhatIsNotKnownIsEmpty) {
  for (const char* name :
       {"command", "exit_status", "signal", "highest_rss_bytes",
        "highest_rss_file", "last_rss_bytes", "vm_hwm_bytes", "peak_s",
        "unwritten_rows", "cpu_user_s", "own_bytes", "line_array_bytes",
        "rss_reads", "verified_events", "worst_rss_error_bytes"}) {
    EXPECT_TRUE(IsUnknown(Value(name))) << name;
  }
  EXPECT_EQ(Value("end"), Cell("no footer"));
  EXPECT_EQ(Value("rss_source"), Cell("unknown"));
}

TEST_F(RunFactsTest, TheMainSizeIsTheFirstInBytes) {
  for (const auto& [name, value] : SummaryValues(facts_, "run.pb", 1)) {
    if (!absl::EndsWith(name, "_bytes")) continue;
    EXPECT_EQ(name, "peak_rss_bytes");
    break;
  }
}

TEST_F(RunFactsTest, PageEventsAreCounted) {
  Read(PageEventsRun().Build());
  EXPECT_EQ(Fact("page events"),
            "80; 5 with an inferred stack; lost: 0 events, 0 stacks");
  EXPECT_EQ(std::get<uint64_t>(Value("page_events")), 80u);
  EXPECT_EQ(std::get<uint64_t>(Value("page_period")), 1u);
  EXPECT_EQ(std::get<uint64_t>(Value("pages_inferred")), 5u);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(Value("page_weight")));
}

TEST_F(RunFactsTest, WithoutAFooterPageEventsAreThoseOfTheStream) {
  PageEventsRun run;
  run.with_footer = false;
  run.period = 16;
  Read(run.Build());
  EXPECT_EQ(Fact("page events"),
            "80, at least 1 in 16 with its own stack; 5 with an "
            "inferred stack; lost: 0 events, 0 stacks");
  EXPECT_TRUE(
      absl::StrContains(EndReportOf(facts_, "run.pb", 777),
                        "80 page events, 5 with an inferred stack, 0 lost."));
}

TEST_F(RunFactsTest, RunsWithoutPageEventsSayNothingOfThem) {
  Read(SmallRun().Build());
  EXPECT_EQ(Fact("page events"), "no such fact");
  EXPECT_TRUE(IsUnknown(Value("page_events")));
}

TEST_F(RunFactsTest, HeapEvents) {
  HeapRun run;
  run.mode = HEAP_SAMPLED;
  run.mean_bytes = 65536;
  Read(run.Build());
  EXPECT_EQ(Fact("heap events"),
            "sampled; 21 allocations, 8 frees; lost: 0 events; one sample in "
            "64.0 KiB");
  EXPECT_EQ(std::get<std::string>(Value("heap")), "sampled");
  EXPECT_EQ(std::get<uint64_t>(Value("heap_frees")), 8u);
  EXPECT_THAT(EndReportOf(facts_, "run.pb", 5),
              testing::HasSubstr("21 allocations sampled, 8 frees, 0 lost."));
}

TEST_F(RunFactsTest, WithoutAFooterHeapEventsAreCounted) {
  HeapRun run;
  run.with_footer = false;
  Read(run.Build());
  EXPECT_EQ(Fact("heap events"),
            "all; 21 allocations, 8 frees; lost: 0 events");
}

TEST_F(RunFactsTest, NoHeapEventsAreNotSpokenOf) {
  Read(SmallRun().Build());
  EXPECT_EQ(Fact("heap events"), "no such fact");
  EXPECT_TRUE(IsUnknown(Value("heap_allocations")));
}

}  // namespace
}  // namespace pymemrun
