// How the program is asked for dumps, and when again.
#include "collector/process/dump_orders.h"

#include <signal.h>

#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "text/units_for_tests.h"

namespace pymemrun {
namespace {

class DumpOrdersTest : public testing::Test {
 protected:
  DumpOrdersTest() { Take(TakesDumps::kYes); }

  void Take(TakesDumps takes) {
    page_->dumps.takes.store(static_cast<uint32_t>(takes));
  }
  // What the program does at the signal.
  void Hear() { page_->dumps.heard.store(order()); }
  void Make() {
    Hear();
    page_->dumps.taken.store(order());
  }
  uint32_t order() const { return reply_->dump_order.load(); }

  const std::unique_ptr<ControlPage> page_ = std::make_unique<ControlPage>();
  const std::unique_ptr<ReplyPage> reply_ = std::make_unique<ReplyPage>();
  int sent_ = 0;
  bool says_so_ = false;  // that a signal is being sent, while it is
  DumpOrders orders_{page_.get(), reply_.get(), [this] {
                       ++sent_;
                       says_so_ = reply_->sends_order.load() == 1;
                     }};
};

TEST_F(DumpOrdersTest, NothingIsSentUnasked) {
  orders_.Follow(1);
  EXPECT_EQ(sent_, 0);
  EXPECT_EQ(order(), 0u);
}

TEST_F(DumpOrdersTest, AnOrderHasANumberAndAReason) {
  orders_.Ask(DumpReason::kEvery, 1);
  EXPECT_EQ(sent_, 1);
  EXPECT_TRUE(says_so_);
  EXPECT_EQ(reply_->sends_order.load(), 0u);
  EXPECT_EQ(ReasonOfOrder(order()), DumpReason::kEvery);
  const uint32_t first = order();
  Make();
  orders_.Ask(DumpReason::kEvery, 2);
  EXPECT_EQ(sent_, 2);
  EXPECT_NE(order(), first);
}

TEST_F(DumpOrdersTest, OneThatIsOpenDoesForThoseThatFollow) {
  orders_.Ask(DumpReason::kOutside, 1);
  const uint32_t first = order();
  orders_.Ask(DumpReason::kOutside, 2);
  orders_.Ask(DumpReason::kAtPeak, 3);
  EXPECT_EQ(order(), first);
  EXPECT_EQ(sent_, 1);
}

TEST_F(DumpOrdersTest, OneFromOutsideComesBeforeOthers) {
  orders_.Ask(DumpReason::kAtPeak, 1);
  orders_.Ask(DumpReason::kOutside, 2);
  EXPECT_EQ(ReasonOfOrder(order()), DumpReason::kOutside);
  EXPECT_EQ(sent_, 2);
}

// It may have come right before a call that blocks.
TEST_F(DumpOrdersTest, WhatWasHeardAndNotMadeIsSaidAgainEverMoreRarely) {
  orders_.Ask(DumpReason::kOutside, 0);
  Hear();
  std::vector<uint64_t> again_ms;
  for (uint64_t ms = 0; ms < 200000; ms += 100) {
    const int before = sent_;
    orders_.Follow(ms * kMs);
    if (sent_ > before) again_ms.push_back(ms);
  }
  EXPECT_EQ(again_ms, (std::vector<uint64_t>{1000, 3000, 7000, 15000, 31000,
                                             63000, 127000, 191000}));
  Make();
  orders_.Follow(900000 * kMs);
  EXPECT_EQ(sent_, 9);
}

TEST_F(DumpOrdersTest, TheNextOrderIsSaidAgainAsSoonAsTheFirst) {
  orders_.Ask(DumpReason::kAtPeak, 0);
  Hear();
  for (uint64_t ms = 0; ms <= 7000; ms += 100) orders_.Follow(ms * kMs);
  EXPECT_EQ(sent_, 4);
  orders_.Ask(DumpReason::kOutside, 7000 * kMs);
  Hear();
  orders_.Follow(8000 * kMs);
  EXPECT_EQ(sent_, 6);
}

TEST_F(DumpOrdersTest, WhatWasNotHeardIsSaidAgainEachSecond) {
  orders_.Ask(DumpReason::kOutside, 0);
  for (uint64_t ms = 0; ms <= 3500; ms += 100) orders_.Follow(ms * kMs);
  EXPECT_EQ(sent_, 4);
}

TEST_F(DumpOrdersTest, OneThatWaitsForAnotherDumpIsSaidAgainUntilItIsMade) {
  orders_.Ask(DumpReason::kOutside, 0);
  Hear();
  page_->dumps.waits.store(order());
  for (uint64_t ms = 0; ms <= 1000; ms += 50) orders_.Follow(ms * kMs);
  EXPECT_EQ(sent_, 5);
  Make();
  orders_.Follow(9000 * kMs);
  EXPECT_EQ(sent_, 5);
}

TEST_F(DumpOrdersTest, NoSignalReachesTheNewProgramOfAnExec) {
  page_->exec_pending.store(1);
  orders_.Ask(DumpReason::kOutside, 0);
  EXPECT_EQ(sent_, 0);
  page_->exec_pending.store(0);  // it failed
  orders_.Follow(1000 * kMs);
  EXPECT_EQ(sent_, 1);
}

TEST_F(DumpOrdersTest, NoSignalComesOnceTheInterpreterFinalises) {
  page_->finalize_ns.store(1);
  orders_.Ask(DumpReason::kOutside, 0);
  EXPECT_EQ(sent_, 0);
}

TEST_F(DumpOrdersTest, AnOrderWaitsUntilTheProgramSaysWhetherItTakesSome) {
  Take(TakesDumps::kNotKnown);
  orders_.Ask(DumpReason::kOutside, 0);
  EXPECT_EQ(sent_, 0);
  EXPECT_FALSE(orders_.IsRefused());
  Take(TakesDumps::kYes);
  orders_.Follow(1);
  EXPECT_EQ(sent_, 1);
}

TEST_F(DumpOrdersTest, OneThatIsRefusedIsDropped) {
  Take(TakesDumps::kNo);
  EXPECT_FALSE(orders_.IsRefused());
  orders_.Ask(DumpReason::kOutside, 0);
  EXPECT_TRUE(orders_.IsRefused());
  orders_.Drop();
  EXPECT_FALSE(orders_.IsRefused());
  orders_.Ask(DumpReason::kOutside, 1);
  EXPECT_TRUE(orders_.IsRefused());
  EXPECT_EQ(sent_, 0);
}

TEST_F(DumpOrdersTest, WhatABrokenProgramSaysIsOnlyCompared) {
  page_->dumps.takes.store(~0u);
  page_->dumps.heard.store(~0u);
  page_->dumps.waits.store(~0u);
  page_->dumps.taken.store(~0u);
  orders_.Ask(DumpReason::kOutside, 0);
  EXPECT_EQ(sent_, 0);
  EXPECT_FALSE(orders_.IsRefused());
}

TEST_F(DumpOrdersTest, ASignalOfSomebodyElseIsToldOnce) {
  struct sigaction before;
  sigaction(SIGURG, nullptr, &before);
  DumpOrders::Catch();
  EXPECT_FALSE(DumpOrders::WasAsked());
  raise(SIGURG);
  EXPECT_TRUE(DumpOrders::WasAsked());
  EXPECT_FALSE(DumpOrders::WasAsked());
  sigaction(SIGURG, &before, nullptr);
}

}  // namespace
}  // namespace pymemrun
