#include "readers/call_profile.h"

#include <string>

#include "gtest/gtest.h"
#include "readers/program_test_util.h"
#include "readers/pymemreport.h"
#include "readers/run_facts.h"

namespace pymemrun {
namespace {

class CallProfileTest : public ::testing::Test {
 protected:
  CallProfileTest() {
    for (const char* name : {"f", "g"}) {
      CodeDef code;
      code.set_file("/a.py");
      code.set_name(name);
      code.set_first_line(1);
      index_.Add(code);
    }
    FunctionDef function;
    function.set_qualname("bytearray.extend");
    index_.Add(function);
    AddSite(1, 10, 0);
    AddSite(1, 10, 1);
    AddSite(1, 11, 0);
    AddSite(2, 20, 0);
    ThreadDef thread;
    thread.set_name("Main");
    thread.set_native_id(5);
    index_.Add(thread);
  }
  void AddSite(uint32_t code, uint32_t line, uint32_t function) {
    SiteDef site;
    site.set_code(code);
    site.set_line(line);
    site.set_function(function);
    index_.Add(site);
  }

  RunIndex index_;
  CallProfile profile_;
};

TEST_F(CallProfileTest, GrowthIsChargedToTheLineWhereItWasSeen) {
  profile_.Add(MakeRow(1, 0, 1, 0, 100));
  profile_.Add(MakeRow(2, 0, 2, 0, 50));  // the same line, in a C function
  profile_.Add(MakeRow(3, 0, 3, 0, 300));
  profile_.Add(MakeRow(4, 0, 3, 0, -120));
  ProfileTable table(PlaceKind::kLine);
  table.Add(profile_, index_);
  const auto places = table.Sorted();
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places[0].line, 11u);
  EXPECT_EQ(places[0].totals.growth_bytes, 300u);
  EXPECT_EQ(places[0].totals.shrinkage_bytes, 120u);
  EXPECT_EQ(places[0].totals.net_bytes(), 180);
  EXPECT_EQ(places[0].totals.rows, 2u);
  EXPECT_EQ(places[1].line, 10u);
  EXPECT_EQ(places[1].function, "f");
  EXPECT_EQ(places[1].totals.growth_bytes, 150u);
  EXPECT_EQ(table.total().growth_bytes, 450u);
}

TEST_F(CallProfileTest, PlacesAreFunctionsFilesOrThreads) {
  profile_.Add(MakeRow(1, 0, 1, 0, 100));
  profile_.Add(MakeRow(2, 0, 3, 0, 100));
  profile_.Add(MakeRow(3, 0, 4, 0, 1));
  ProfileTable functions(PlaceKind::kFunction), files(PlaceKind::kFile),
      threads(PlaceKind::kThread);
  for (ProfileTable* table : {&functions, &files, &threads}) {
    table->Add(profile_, index_);
  }
  ASSERT_EQ(functions.Sorted().size(), 2u);
  EXPECT_EQ(functions.Sorted()[0].function, "f");
  EXPECT_EQ(functions.Sorted()[0].line, 1u);
  ASSERT_EQ(files.Sorted().size(), 1u);
  EXPECT_EQ(files.Sorted()[0].totals.growth_bytes, 201u);
  ASSERT_EQ(threads.Sorted().size(), 1u);
  EXPECT_EQ(threads.Sorted()[0].file, "Main#5");
}

TEST_F(CallProfileTest, ContextIsNotCounted) {
  profile_.Add(MakeRow(1, 0, 1, 0, 100, /*context=*/true));
  ProfileTable table(PlaceKind::kLine);
  table.Add(profile_, index_);
  EXPECT_TRUE(table.Sorted().empty());
}

TEST_F(CallProfileTest, OfEventZeroOnlyWhatCameSinceTheStartIsGrowth) {
  profile_.set_first_rss_bytes(1000);
  profile_.Add(MakeRow(0, 0, 1, 1500, 1500));
  EXPECT_EQ(profile_.sites()[1].growth_bytes, 500u);
  CallProfile unknown_start;
  unknown_start.Add(MakeRow(0, 0, 1, 1500, 1500));
  EXPECT_EQ(unknown_start.sites()[1].growth_bytes, 0u);
  EXPECT_EQ(unknown_start.sites()[1].rows, 1u);
}

TEST_F(CallProfileTest, HugeIdsAndChangesAreBounded) {
  profile_.Add(MakeRow(1, 0, UINT32_MAX, 0, INT64_MIN));
  EXPECT_LT(profile_.sites().size(), 100u);
  EXPECT_EQ(profile_.sites()[0].shrinkage_bytes, uint64_t{1} << 63);
}

TEST_F(CallProfileTest, TheTableEndsWithTracingItself) {
  profile_.Add(MakeRow(1, 0, 1, 0, 300));
  profile_.Add(MakeRow(2, 0, 3, 0, 100));
  ProfileTable profile(PlaceKind::kLine);
  profile.Add(profile_, index_);
  const Table table = TopTable(profile, /*limit=*/1, /*own_bytes=*/77);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(std::get<double>(table.rows[0][7]), 0.75);
  EXPECT_EQ(std::get<std::string>(table.rows[1][0]), "tracing itself");
  EXPECT_EQ(std::get<int64_t>(table.rows[1][3]), 77);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(table.rows[1][7]));
}

TEST(ParsePlaceKindTest, KnowsFour) {
  PlaceKind kind;
  EXPECT_TRUE(ParsePlaceKind("thread", &kind));
  EXPECT_EQ(kind, PlaceKind::kThread);
  EXPECT_FALSE(ParsePlaceKind("module", &kind));
}

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
  RunFacts facts_;
};

TEST_F(RunFactsTest, TheFootersWordCounts) {
  Read(SmallRun().Build());
  EXPECT_EQ(facts_.Events(), 21u);
  EXPECT_EQ(facts_.DurationUs(), 1100u);
  EXPECT_EQ(facts_.HwmBytes(), uint64_t{14} << 20);
  EXPECT_EQ(facts_.HighestPlace(), "/job.py:5 list.append");
  EXPECT_EQ(Fact("end"), "exit status 3");
  EXPECT_EQ(Fact("RSS"),
            "8.0 MiB when tracing began, 13.0 MiB highest, 12.0 MiB at the "
            "last row");
  EXPECT_EQ(Fact("events"),
            "21; in the file 5 rows (3 logged, 2 as context), 1 marks");
  EXPECT_EQ(Fact("tracing itself"),
            "1.0 MiB resident; made by the interpreter because it is profiled: "
            "16.0 KiB of frame objects at most, 2.0 KiB of line numbers");
}

TEST_F(RunFactsTest, WithoutAFooterTheStreamTells) {
  SmallRun run;
  run.with_footer = false;
  Read(run.Build());
  EXPECT_EQ(facts_.Events(), 21u);
  EXPECT_EQ(facts_.DurationUs(), 300u);
  EXPECT_EQ(Fact("end").substr(0, 8), "not seen");
  EXPECT_EQ(Fact("VmHWM"), "not recorded");
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
  EXPECT_EQ(Fact("losses"),
            "1,234 rows on a full ring, 0 rows on failed writes");
  EXPECT_EQ(Fact("CPU"), "0.900 s user, 0.100 s system, 50 % of one core");
  EXPECT_EQ(Fact("RSS source"),
            "unknown; from event 5 on hints: perf\\x1b refused");
  EXPECT_EQ(Fact("VmHWM"), "1.0 GiB, reached between events 3 and 4 (0.000 s)");
}

TEST_F(RunFactsTest, AnEarlyPeakIsNotWhereALaterMaximumCameFrom) {
  Peak peak;
  peak.set_hwm_bytes(10 << 20);
  facts_.OnPeak(peak);
  Footer footer;
  footer.set_hwm_bytes(14 << 20);
  footer.set_seen_max_rss_bytes(14 << 20);
  facts_.OnFooter(footer);
  EXPECT_EQ(Fact("VmHWM"), "14.0 MiB");
}

}  // namespace
}  // namespace pymemrun
