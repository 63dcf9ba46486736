#include "collector/pages/page_matcher.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "collector/pages/page_matcher_fixture.h"

namespace pymemrun {
namespace {

TEST_F(PageMatcherTest, GarbageIsCollectedWhereTheStackIs) {
  Sample(1, 10, 100);
  matcher_.AddTouch(1, {11, 100, instruction_, 7, false, false, true});
  for (uint64_t i = 0; i < 4; ++i) Sample(1, 20 + i, 200 + i);
  Sample(1, 30, 300);
  Touch(1, 31, 300, 8);
  EXPECT_EQ(Emit(40),
            "1:100=7gc 1:200=7?gc 1:201=7?gc 1:202=8? 1:203=8? 1:300=8");
}

TEST_F(PageMatcherTest, HugePagesOfOneInstructionBelongTogether) {
  Sample(1, 10, 512);
  Touch(1, 11, 512, 7);
  Sample(1, 20, 1024);  // of the same loop
  Sample(1, 21, 1025);  // no begin of a huge page
  Sample(1, 22, 1026);
  Sample(1, 23, 1536);
  instruction_ = 0x500;
  Sample(1, 30, 2048);
  Touch(1, 41, 2560, 8);
  Sample(1, 40, 2560);
  EXPECT_EQ(Emit(100),
            "1:512=7 1:1024=7? 1:1025=7? 1:1026=8? 1:1536=7? 1:2048=8? "
            "1:2560=8");
}

TEST_F(PageMatcherTest, WhatAHugePageShowsGoesForOthersOfItsInstruction) {
  Sample(1, 10, 512);  // not signalled
  Sample(1, 20, 1024);
  matcher_.AddTouch(1, {21, 1024, instruction_, 7, false, true});
  instruction_ = 0x500;
  Sample(1, 15, 300);
  EXPECT_EQ(Emit(100), "1:512=7?+ 1:300=7? 1:1024=7+");
}

TEST_F(PageMatcherTest, SmallPagesThatFillABlockDoNotShowTheNextOneToBeHuge) {
  Sample(1, 10, 511);
  matcher_.AddTouch(1, {11, 511, instruction_, 7, false, true});
  for (uint64_t i = 0; i < 9; ++i) Sample(1, 20 + i, 512 + i);
  Sample(1, 40, 700);
  matcher_.AddTouch(1, {41, 700, instruction_, 7, false, true});
  EXPECT_EQ(Emit(100),
            "1:511=7+ 1:512=7? 1:513=7? 1:514=7? 1:515=7? 1:516=7? 1:517=7? "
            "1:518=7? 1:519=7? 1:520=7? 1:700=7+");
}

TEST_F(PageMatcherTest, ALongTimeAgoIsNoSignOfTheSameLoop) {
  Sample(1, 10, 512);
  Touch(1, 11, 512, 7);
  Sample(1, 2 * kSecond, 1024);
  instruction_ = 0x500;
  Touch(1, 2 * kSecond + 10, 300, 8);
  EXPECT_EQ(Emit(3 * kSecond), "1:512=7 1:1024=8?");
}

// Where the machine's own memory comes only now, a huge page takes 100 ms.
TEST_F(PageMatcherTest, ALoopMayTakeLongForEachHugePage) {
  Sample(1, 10, 512);
  Touch(1, 11, 512, 7);
  std::string expected = "1:512=7";
  for (uint64_t i = 1; i <= 20; ++i) {
    Sample(1, i * kSecond / 10, 512 * (i + 1));
    absl::StrAppend(&expected, " 1:", 512 * (i + 1), "=7?");
  }
  instruction_ = 0x500;
  Touch(1, 3 * kSecond, 300, 8);
  EXPECT_EQ(Emit(4 * kSecond), expected);
}

TEST_F(PageMatcherTest, EachFaultHasTheStackThatFollowsIt) {
  Sample(1, 10, 100);
  Sample(1, 20, 101);
  Touch(1, 12, 100, 5);
  Touch(1, 22, 101, 6);
  EXPECT_EQ(Emit(30), "1:100=5 1:101=6");
}

TEST_F(PageMatcherTest, OneSignalForAReadIntoManyPages) {
  Sample(1, 8, 99);
  Touch(1, 9, 99, 4);
  instruction_ = uint64_t{1} << 63;  // the kernel's
  for (int i = 0; i < 5; ++i) Sample(1, 10 + i, 100 + i);
  EXPECT_EQ(Emit(1000), "1:99=4");  // the call has not come back
  Touch(1, 2000, 100, 5);
  EXPECT_EQ(Emit(3000), "1:100=5 1:101=5? 1:102=5? 1:103=5? 1:104=5?");
}

TEST_F(PageMatcherTest, AReadWithoutASignalIsNotOfWhatComesNext) {
  Sample(1, 8, 99);
  Touch(1, 9, 99, 4);
  const uint64_t users = std::exchange(instruction_, uint64_t{1} << 63);
  for (int i = 0; i < 3; ++i) Sample(1, 10 + i, 100 + i);
  instruction_ = users;
  for (int i = 0; i < 4; ++i) Sample(1, 20 + i, 200 + i);
  Touch(1, 30, 203, 5);
  EXPECT_EQ(Emit(40),
            "1:99=4 1:100=4? 1:101=4? 1:102=4? "
            "1:200=5? 1:201=5? 1:202=5? 1:203=5");
}

TEST_F(PageMatcherTest, HugePagesAreOfWhoAskedForThem) {
  Sample(1, 8, 99);
  Touch(1, 9, 99, 4);
  Sample(1, 10, 100);
  AskForHugePages(1, 11, 5);
  const uint64_t other = std::exchange(instruction_, 0x500);
  for (int i = 0; i < 3; ++i) Sample(1, 20 + i, 512 * (1 + i));
  instruction_ = other;
  for (int i = 0; i < 5; ++i) Sample(1, 30 + i, 200 + i);
  Touch(1, 40, 204, 6);
  EXPECT_EQ(Emit(50),
            "1:99=4 1:100=4? 1:512=5? 1:1024=5? 1:1536=5? "
            "1:200=6? 1:201=6? 1:202=6? 1:203=6? 1:204=6");
}

// How many go without a signal follows from what was before the pause.
TEST_F(PageMatcherTest, WhatCameBeforeAPauseIsOfTheTouchBeforeIt) {
  constexpr uint64_t kMs = 1'000'000;
  Sample(1, 8, 99);
  Touch(1, 9, 99, 4);
  Sample(1, 10, 100);
  for (uint64_t i = 0; i < 3; ++i) Sample(1, 5 * kMs + i, 200 + i);
  // Not the longest one.
  for (uint64_t i = 0; i < 3; ++i) Sample(1, 8 * kMs + i, 300 + i);
  Touch(1, 8 * kMs + 9, 302, 5);
  // Nothing follows the touch but a pause.
  for (uint64_t i = 0; i < 4; ++i) Sample(1, 20 * kMs + i, 400 + i);
  Touch(1, 20 * kMs + 9, 403, 6);
  EXPECT_EQ(Emit(kSecond),
            "1:99=4 1:100=4? 1:200=5? 1:201=5? 1:202=5? 1:300=5? 1:301=5? "
            "1:302=5 1:400=6? 1:401=6? 1:402=6? 1:403=6");
}

// The signal tells better: who asked for them need not be who touches them.
TEST_F(PageMatcherTest, HugePagesAreOfWhoIsKnownToTouchThem) {
  AskForHugePages(1, 10, 5);
  instruction_ = 0x500;
  for (int i = 0; i < 3; ++i) Sample(1, 20 + i, 512 * (1 + i));
  Touch(1, 40, 1536, 6);
  EXPECT_EQ(Emit(50), "1:512=6? 1:1024=6? 1:1536=6");
}

TEST_F(PageMatcherTest, ThreadsDoNotShareStacks) {
  Sample(1, 10, 100);
  Sample(2, 11, 200);
  Touch(2, 12, 200, 7);
  EXPECT_EQ(Emit(20), "");  // in the order of time: thread 1 comes first
  Touch(1, 13, 100, 5);
  EXPECT_EQ(Emit(20), "1:100=5 2:200=7");
}

TEST_F(PageMatcherTest, ALateOneIsInferred) {
  Sample(1, 10, 100);
  Touch(1, 900, 100, 5, /*late=*/true);
  EXPECT_EQ(Emit(1000), "1:100=5?");
}

TEST_F(PageMatcherTest, ADeadThreadsFaultsTakeItsLastKnownPlace) {
  Sample(1, 10, 100);
  Touch(1, 12, 100, 5);
  Sample(1, 20, 101);
  Sample(2, 21, 300);  // this one was never heard of
  EXPECT_EQ(Emit(kSecond), "1:100=5");
  EXPECT_EQ(Emit(2 * kSecond), "1:101=5? 2:300=0?");
}

TEST_F(PageMatcherTest, AThreadThatGoesOnFaultingIsWaitedFor) {
  for (uint64_t i = 0; i < 5; ++i) Sample(1, i * kSecond / 2, 100 + i);
  EXPECT_EQ(Emit(5 * kSecond / 2), "");
  Touch(1, 5 * kSecond / 2 + 1, 100, 5);
  EXPECT_EQ(Emit(4 * kSecond), "1:100=5 1:101=5? 1:102=5? 1:103=5? 1:104=5?");
}

TEST_F(PageMatcherTest, ALostStackIsInferredFromTheNext) {
  Sample(1, 10, 100);
  Sample(1, 20, 101);
  Touch(1, 22, 101, 6);
  EXPECT_EQ(Emit(30), "1:100=6? 1:101=6");
}

// One fault in `period` is signalled, from the thread's first one on, while one
// line follows the other: each has what it touched, on average over where they
// begin. A touch stands for as many pages as are between two: the mean is off
// by a third of that divided by the root of the runs, and 4 of these are
// allowed.
TEST_F(PageMatcherTest, TheFirstAndTheLastLineOfAThreadHaveTheirShareToo) {
  std::mt19937 random(7);
  for (const uint64_t period : {7, 17, 67}) {
    constexpr int kRuns = 300;
    std::map<uint32_t, double> surplus;
    for (int run = 0; run < kRuns; ++run) {
      PageMatcher matcher(4096);
      charged_.clear();
      last_ns_ = 0;
      uint64_t time_ns = 0;
      for (uint32_t line = 1; line <= 3; ++line) {
        const uint64_t faults = 200 + random() % 200;
        surplus[line] -= static_cast<double>(faults);
        for (uint64_t i = 0; i < faults; ++i) {
          const uint64_t page = ++time_ns;
          matcher.AddSamples({{time_ns * 10, page * 4096, line, 1}});
          if (page % period != 0) continue;
          matcher.AddTouch(1, {time_ns * 10 + 5, page, line, line, false});
        }
      }
      matcher.Emit(UINT64_MAX, this);
      for (const auto& [stack, pages] : charged_) surplus[stack] += pages;
    }
    for (const auto& [line, sum] : surplus) {
      EXPECT_NEAR(sum / kRuns, 0, 4 * period / 3.0 / std::sqrt(kRuns))
          << "line " << line << ", one in " << period;
    }
    out_.clear();
  }
}

TEST_F(PageMatcherTest, ANewThreadIsGivenTimeForItsName) {
  Sample(1, 10, 100);
  Touch(1, 12, 100, 5);
  unnamed_ = 1;
  EXPECT_EQ(Emit(kSecond / 10), "");
  unnamed_ = 0;
  EXPECT_EQ(Emit(kSecond / 10), "1:100=5");
  unnamed_ = 2;
  Sample(2, kSecond, 100);
  Touch(2, kSecond + 1, 100, 5);
  EXPECT_EQ(Emit(kSecond + kSecond / 10), "");
  EXPECT_EQ(Emit(kSecond + kSecond / 4), "2:100=5");
}

TEST_F(PageMatcherTest, MarksStandBetweenTheirSamples) {
  Sample(1, 10, 100);
  Sample(1, 20, 101);
  Touch(1, 12, 100, 5);
  Touch(1, 22, 101, 6);
  PageMark mark = {};
  mark.time_ns = 15;
  mark.address = 77;
  matcher_.AddMark(mark);
  mark.time_ns = 35;
  matcher_.AddMark(mark);
  EXPECT_EQ(Emit(30), "1:100=5 mark 77 1:101=6");
  EXPECT_EQ(Emit(34), "");
  EXPECT_EQ(Emit(35), "mark 77");
}

TEST_F(PageMatcherTest, WhatIsYoungerThanWhatIsCompleteWaits) {
  Sample(1, 10, 100);
  Touch(1, 12, 100, 5);
  Sample(1, 20, 101);
  Touch(1, 22, 101, 6);
  EXPECT_EQ(Emit(15), "1:100=5");
  EXPECT_EQ(Emit(20), "1:101=6");
}

TEST_F(PageMatcherTest, AStragglerKeepsItsStackAndNotItsTime) {
  Sample(1, 100, 100);
  Touch(1, 120, 100, 5);
  EXPECT_EQ(Emit(110), "1:100=5");
  Sample(2, 50, 200);
  Touch(2, 60, 200, 7);
  EXPECT_EQ(Emit(130), "2:200=7");
  EXPECT_EQ(last_ns_, 110u);
}

TEST_F(PageMatcherTest, AtTheEndAllComesOut) {
  Sample(1, 10, 100);
  Touch(1, 12, 100, 5);
  Sample(1, 20, 101);
  PageMark mark = {};
  mark.time_ns = UINT64_MAX - 1;
  matcher_.AddMark(mark);
  EXPECT_EQ(Emit(UINT64_MAX), "1:100=5 1:101=5? mark 0");
  EXPECT_EQ(matcher_.waiting(), 0u);
}

TEST_F(PageMatcherTest, WhatWaitsIsBounded) {
  const size_t count = PageMatcher::kMaxWaiting + 1000;
  std::vector<PageSample> samples;
  for (size_t i = 0; i < count; ++i) samples.push_back({i, i * 4096, 0, 1});
  matcher_.AddSamples(samples);
  matcher_.Emit(count, this);
  EXPECT_EQ(out_.size(), 1000u);
  EXPECT_EQ(matcher_.waiting(), PageMatcher::kMaxWaiting);
}

TEST_F(PageMatcherTest, StacksWithoutSamplesDoNotPileUp) {
  for (uint64_t i = 0; i < 100000; ++i) {
    Touch(1, i, 0, 5);
    Emit(i);
  }
  EXPECT_LT(matcher_.waiting(), 10u);
}

TEST_F(PageMatcherTest, ThreadsThatEndedAreForgotten) {
  for (uint64_t i = 0; i < 100000; ++i) {
    const uint32_t thread = static_cast<uint32_t>(i + 1);
    Sample(thread, 10 * i, i);
    Touch(thread, 10 * i + 1, i, 5);
    ASSERT_EQ(Emit(10 * i + 5), absl::StrCat(thread, ":", i, "=5"));
  }
  EXPECT_LT(matcher_.waiting(), 1u << 15);
}

// A server with a thread for each request begins some hundred a second.
TEST_F(PageMatcherTest, FewThreadsAreRememberedOfManyInALongRun) {
  constexpr uint64_t kStep = kSecond / 200;
  for (uint64_t i = 1; i <= 20000; ++i) {
    const uint32_t thread = static_cast<uint32_t>(i + 1);
    Sample(thread, kStep * i, i);
    Touch(thread, kStep * i + 1, i, 5);
    // One that is there all the time.
    Sample(1, kStep * i + 2, i);
    Touch(1, kStep * i + 3, i, 7);
    Emit(kStep * i + kStep / 2);
    EXPECT_LT(matcher_.threads(), 1100u) << i;
  }
  EXPECT_EQ(charged_[7], charged_[5]);
}

TEST_F(PageMatcherTest, AFaultIsUnderWayUntilItsSignalOrTheThreadsNext) {
  constexpr uint64_t kMs = 1000000;
  Sample(1, 10 * kMs, 100);
  Touch(1, 30 * kMs, 100, 5);
  EXPECT_EQ(Emit(11 * kMs), "1:100=5");
  EXPECT_EQ(PagesUnderWay(20 * kMs), Pages{100});
  EXPECT_EQ(PagesUnderWay(31 * kMs), Pages{});
  Sample(1, 40 * kMs, 101);  // not signalled
  Sample(1, 50 * kMs, 102);
  Touch(1, 60 * kMs, 102, 5);
  matcher_.AddMark({.time_ns = 45 * kMs, .kind = PageMark::kAsked});
  EXPECT_EQ(Emit(55 * kMs), "");  // nor is it known who comes between
  EXPECT_EQ(Emit(61 * kMs), "1:101=5? mark 0 1:102=5");
  EXPECT_EQ(under_way_, std::vector<Pages>{{101}});
  EXPECT_EQ(PagesUnderWay(55 * kMs), Pages{102});
  Sample(1, 70 * kMs, 103);
  Emit(2 * kSecond);
  EXPECT_EQ(PagesUnderWay(250 * kMs), Pages{103});
  EXPECT_EQ(PagesUnderWay(400 * kMs), Pages{});
}

TEST_F(PageMatcherTest, AFaultUnderWayIsKnownWithAllThatItBrings) {
  fault_pages_ = 512;
  Sample(1, 10, 512);
  Touch(1, 30, 512, 5);
  Emit(11);
  EXPECT_EQ(PagesUnderWay(20), Pages{512});
}

TEST_F(PageMatcherTest, AThreadThatUnmapsIsNotInAFault) {
  Sample(1, 10, 100);  // not signalled
  Sample(2, 11, 200);
  Touch(1, 50, 300, 5);
  Touch(2, 50, 301, 6);
  PageMark mark = {};
  mark.time_ns = 20;
  mark.kind = PageMark::kRange;
  mark.thread = 1;
  matcher_.AddMark(mark);
  Emit(60);
  EXPECT_EQ(under_way_, std::vector<Pages>{{200}});
}

TEST_F(PageMatcherTest, AMarkShowsTheFaultsOfItsMoment) {
  Sample(1, 10, 100);
  Touch(1, 20, 100, 5);
  Sample(1, 30, 101);
  Touch(1, 32, 101, 5);
  matcher_.AddMark({.time_ns = 15, .kind = PageMark::kAsked});
  matcher_.AddMark({.time_ns = 31, .kind = PageMark::kResidency});
  Emit(40);
  EXPECT_EQ(under_way_, (std::vector<Pages>{{100}, {101}}));
}

}  // namespace
}  // namespace pymemrun
