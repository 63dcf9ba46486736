#include "readers/tracks/call_tracks.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/testing/call_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "readers/tracks/lines_sink_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Calls within calls, at times that are given: main.py has `outer` and `inner`,
// which calls time.sleep of C.
class TimedRun {
 public:
  explicit TimedRun(uint64_t min_call_bytes = 0)
      : TimedRun(Filters(), min_call_bytes) {}
  explicit TimedRun(const Filters& filters, uint64_t min_call_bytes = 0)
      : builder_(&sink_) {
    Header header = RunBuilder::DefaultHeader();
    *header.mutable_filters() = filters;
    if (min_call_bytes > 0) {
      header.mutable_filters()->set_min_drss_bytes(1 << 30);
      header.mutable_filters()->set_min_call_drss_bytes(min_call_bytes);
    }
    builder_.AddHeader(header);
    builder_.AddThread("MainThread", 10);
    builder_.AddThread("worker", 11);
    const uint32_t outer = builder_.AddCode("/main.py", "outer", 1);
    const uint32_t inner = builder_.AddCode("/main.py", "inner", 20);
    const uint32_t sleep = builder_.AddFunction("sleep", "time");
    sites_ = {builder_.AddSite(CALL, outer, 1),
              builder_.AddSite(RETURN, outer, 9),
              builder_.AddSite(CALL, inner, 20),
              builder_.AddSite(RETURN, inner, 29),
              builder_.AddSite(C_CALL, inner, 25, sleep),
              builder_.AddSite(C_RETURN, inner, 25, sleep)};
  }
  enum Event { kOuter, kOuterEnd, kInner, kInnerEnd, kSleep, kSleepEnd };

  TimedRun& At(uint64_t time_us, Event event, uint32_t thread = 1,
               uint64_t rss_bytes = 4096) {
    static constexpr What kWhat[] = {CALL,   RETURN, CALL,
                                     RETURN, C_CALL, C_RETURN};
    Row row = MakeRow(number_++, time_us, sites_[event], rss_bytes, 0);
    row.thread = thread;
    row.what = kWhat[event];
    builder_.AddRow(row);
    return *this;
  }
  TimedRun& Ended(uint64_t time_us, Event event, uint64_t events,
                  uint64_t took_us) {
    number_ += 100;
    Row row = MakeRow(number_, time_us, sites_[event], 1 << 20, 0);
    row.what = RETURN;
    row.call_events = events;
    row.call_us = took_us;
    row.call_drss = 8192;
    builder_.AddRow(row);
    return *this;
  }
  TimedRun& Skip() {
    number_ += 5;
    return *this;
  }
  TimedRun& EndAt(uint64_t time_us) {
    Record footer;
    footer.mutable_footer()->set_end(Footer::EXIT);
    footer.mutable_footer()->set_end_us(time_us);
    builder_.AddRecord(footer);
    return *this;
  }
  std::string Build() {
    builder_.Flush();
    return sink_.contents();
  }

 private:
  StringSink sink_;
  RunBuilder builder_;
  uint64_t number_ = 0;
  std::vector<uint32_t> sites_;
};

class CallTracksTest : public ::testing::Test {
 protected:
  std::vector<std::string> Lines(TimedRun& run, uint64_t min_us) {
    LinesSink sink;
    CallTracks calls({.min_us = min_us}, &sink);
    const std::string bytes = run.Build();
    StringSource source(bytes);
    ReadResult result;
    EXPECT_TRUE(ReadStream(&source, {}, &calls, &result).ok());
    EXPECT_EQ(result.damages, 0u);
    calls.Finish();
    given_ = calls.given();
    too_short_ = calls.too_short();
    cut_ = calls.cut();
    return sink.lines();
  }

  uint64_t given_ = 0, too_short_ = 0, cut_ = 0;
};

TEST_F(CallTracksTest, SlicesNestAsCallsDo) {
  TimedRun run;
  run.At(10, TimedRun::kOuter)
      .At(20, TimedRun::kInner)
      .At(30, TimedRun::kSleep)
      .At(60, TimedRun::kSleepEnd)
      .At(70, TimedRun::kInnerEnd, 1, 12288)
      .At(90, TimedRun::kOuterEnd);
  EXPECT_THAT(Lines(run, 0),
              ElementsAre("thread MainThread", "begin 1 10 outer",
                          "begin 1 20 inner", "begin 1 30 sleep", "end 1 60",
                          "end 1 70 grew 8192", "end 1 90"));
  EXPECT_EQ(given_, 3u);
}

TEST_F(CallTracksTest, ShortCallsAreLeftOutAndCounted) {
  TimedRun run;
  run.At(10, TimedRun::kOuter)
      .At(20, TimedRun::kInner)
      .At(25, TimedRun::kInnerEnd)
      .At(30, TimedRun::kInner)
      .At(80, TimedRun::kInnerEnd)
      .At(90, TimedRun::kOuterEnd);
  EXPECT_THAT(Lines(run, 50),
              ElementsAre("thread MainThread", "begin 1 10 outer",
                          "begin 1 30 inner", "end 1 80", "end 1 90"));
  EXPECT_EQ(given_, 2u);
  EXPECT_EQ(too_short_, 1u);
}

TEST_F(CallTracksTest, ThreadsDoNotMeet) {
  TimedRun run;
  run.At(10, TimedRun::kOuter)
      .At(20, TimedRun::kInner, 2)
      .At(30, TimedRun::kOuterEnd)
      .At(40, TimedRun::kInnerEnd, 2);
  EXPECT_THAT(Lines(run, 0),
              ElementsAre("thread MainThread", "begin 1 10 outer", "end 1 30",
                          "thread worker", "begin 2 20 inner", "end 2 40"));
}

TEST_F(CallTracksTest, CallsUnderWayEndWithTheRun) {
  TimedRun run;
  run.At(10, TimedRun::kOuter).At(20, TimedRun::kInner).EndAt(500);
  EXPECT_THAT(Lines(run, 1), ElementsAre("thread MainThread",
                                         "begin 1 10 outer", "begin 1 20 inner",
                                         "end 1 500 cut", "end 1 500 cut"));
  EXPECT_EQ(cut_, 2u);
}

TEST_F(CallTracksTest, MissingEventsCutWhatIsUnderWay) {
  TimedRun run;
  run.At(10, TimedRun::kOuter)
      .At(30, TimedRun::kInner)
      .Skip()
      .At(100, TimedRun::kOuterEnd)
      .At(110, TimedRun::kOuter)
      .At(120, TimedRun::kOuterEnd);
  EXPECT_THAT(Lines(run, 1),
              ElementsAre("thread MainThread", "begin 1 10 outer",
                          "end 1 30 cut", "begin 1 110 outer", "end 1 120"));
}

// The filters left out events of other places, on both sides.
TEST_F(CallTracksTest, EventsThatFiltersLeftOutCutNothing) {
  Filters filters;
  filters.add_function("o*");
  TimedRun run(filters);
  run.At(10, TimedRun::kOuter)
      .Skip()
      .At(40, TimedRun::kOuter)
      .Skip()
      .At(70, TimedRun::kOuterEnd)
      .At(90, TimedRun::kOuterEnd);
  EXPECT_THAT(Lines(run, 1),
              ElementsAre("thread MainThread", "begin 1 10 outer",
                          "begin 1 40 outer", "end 1 70", "end 1 90"));
  EXPECT_EQ(cut_, 0u);
}

TEST_F(CallTracksTest, AReturnOfAnotherCallCutsItsThread) {
  TimedRun run;
  run.At(10, TimedRun::kOuter).At(30, TimedRun::kInnerEnd);
  EXPECT_THAT(Lines(run, 0), ElementsAre("thread MainThread",
                                         "begin 1 10 outer", "end 1 30 cut"));
}

TEST_F(CallTracksTest, ReturnsThatKnowTheirCallsComeOuterFirst) {
  TimedRun run(4096);
  run.Ended(50, TimedRun::kInnerEnd, 2, 30)     // 20 to 50
      .Ended(90, TimedRun::kInnerEnd, 2, 20)    // 70 to 90
      .Ended(95, TimedRun::kOuterEnd, 30, 75);  // 20 to 95
  EXPECT_THAT(
      Lines(run, 0),
      ElementsAre("thread MainThread", "begin 1 20 outer", "begin 1 20 inner",
                  "end 1 50 grew 8192", "begin 1 70 inner",
                  "end 1 90 grew 8192", "end 1 95 grew 8192"));
  EXPECT_EQ(given_, 3u);
}

TEST_F(CallTracksTest, WhatOverlapsInADamagedFileEndsWithTheOuterCall) {
  TimedRun run(4096);
  run.Ended(50, TimedRun::kOuterEnd, 2, 40)    // 10 to 50
      .Ended(70, TimedRun::kInnerEnd, 2, 40);  // 30 to 70
  EXPECT_THAT(
      Lines(run, 0),
      ElementsAre("thread MainThread", "begin 1 10 outer", "begin 1 30 inner",
                  "end 1 50 grew 8192", "end 1 50 grew 8192"));
}

TEST_F(CallTracksTest, FilteredRowsTellNoCalls) {
  TimedRun run(4096);
  run.At(10, TimedRun::kOuter).At(20, TimedRun::kOuterEnd);
  EXPECT_THAT(Lines(run, 0), IsEmpty());
}

TEST_F(CallTracksTest, CallsOfCAloneAreSlices) {
  Filters filters;
  for (const What kind : {C_CALL, C_RETURN}) filters.add_kinds(kind);
  TimedRun run(filters);
  run.At(30, TimedRun::kSleep).At(60, TimedRun::kSleepEnd);
  EXPECT_THAT(Lines(run, 0),
              ElementsAre("thread MainThread", "begin 1 30 sleep", "end 1 60"));
}

}  // namespace
}  // namespace pymemrun
