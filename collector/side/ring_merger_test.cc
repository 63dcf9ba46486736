#include "collector/side/ring_merger.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "collector/process/monotonic_clock.h"
#include "collector/ring/ring_fixture.h"
#include "collector/ring/side_ring_fixture.h"
#include "tracer/wire/region_for_tests.h"

namespace pymemrun {
namespace {

class NoRecords final : public RecordSink {
 public:
  using RecordSink::Write;
  void Write(absl::string_view, RowCounts) override {}
};

// Says in which order slots and events came.
class RingMergerTest : public testing::Test,
                       protected RingMerger::SlotTaker,
                       protected RingMerger::EventTaker,
                       protected SideTaker {
 protected:
  void SetUp() override {
    side_.Subscribe(this, {SideKind::kAlloc, SideKind::kFree});
    Use(/*merges=*/true);
  }
  void Use(bool merges) {
    side_.Start();
    merger_.set_events(&side_, this, merges);
  }

  void Consume(const EventSlot* slots, size_t count) override {
    for (size_t i = 0; i < count; ++i) {
      GiveOut(next_index_);
      came_.push_back(absl::StrCat("slot ", slots[i].what_and_code));
      ++next_index_;
    }
  }
  void SkipTo(uint64_t index) override {
    came_.push_back(absl::StrCat("skip to ", index));
    next_index_ = index;
  }
  uint64_t next_index() const override { return next_index_; }
  void NoSlotsBefore(uint64_t) override {
    came_.push_back("no slots");
    told_ns_ = MonotonicNs();
  }
  void EndRound(uint64_t index, uint64_t looked_ns) override {
    GiveOut(index);
    looked_ns_ = looked_ns;
  }
  void TakeItem(const SideItemView& item, uint32_t) override {
    HeapEvent event;
    const auto said = item.As<SideHeapEvent>();
    event.address = said.address;
    merger_.Add({said.index, item.time_ns, item.thread, item.kind, event});
  }
  void GiveOut(uint64_t index) {
    while (merger_.waiting() > 0 && merger_.first().index <= index) {
      came_.push_back(
          absl::StrCat("event ", merger_.TakeFirst().event.address));
    }
  }

  void PushSlots(uint32_t first, uint32_t count) {
    SlotStream stream;
    for (uint32_t i = 0; i < count; ++i) stream.Row(0, first + i, 0, 0, 0);
    ASSERT_TRUE(producer_.TryPush(stream.slots()));
  }
  std::vector<std::string> Came() { return std::exchange(came_, {}); }

  using Lines = std::vector<std::string>;
  TestRegion region_;
  RingProducer producer_{region_.page(), region_.slots(), region_.reply()};
  SideProducer side_producer_{region_.page(), region_.cells()};
  ClockScale clock_;
  NoRecords out_;
  DefinitionTable definitions_{&clock_, &out_};
  SideItems side_{region_.page(), region_.reply(), getpid(), &definitions_,
                  &out_};
  RingReader reader_{region_.page(), region_.slots(), region_.reply()};
  RingMerger merger_{&reader_, this};
  uint64_t next_index_ = 0;
  uint64_t looked_ns_ = 0, told_ns_ = 0;
  std::vector<std::string> came_;
};

TEST_F(RingMergerTest, AnEventComesBeforeTheSlotThatItNames) {
  PushSlots(1, 3);
  side_producer_.Free(7, 1, 2, 100);
  side_producer_.Free(7, 1, 0, 101);
  side_producer_.Free(7, 1, 3, 102);
  side_producer_.Free(7, 1, 4, 103);  // of a slot that is not there yet
  EXPECT_EQ(merger_.Drain(false), 7u);
  EXPECT_EQ(Came(), (Lines{"event 101", "slot 1", "slot 2", "event 100",
                           "slot 3", "event 102"}));
  EXPECT_EQ(merger_.first_index(), 4u);
  PushSlots(4, 1);
  merger_.Drain(false);
  EXPECT_EQ(Came(), (Lines{"slot 4", "event 103"}));
  EXPECT_EQ(merger_.first_index(), RingMerger::kNoSlot);
  merger_.Drain(false);
  EXPECT_EQ(Came(), Lines{"no slots"});
}

TEST_F(RingMergerTest, SlotsWaitForItemsThatAreNotWholeYet) {
  SideHeapEvent head;
  head.kind = SideKind::kFree;
  head.index = 1;
  head.address = 100;
  const uint64_t item = side_producer_.Push(head, "", /*commit=*/false);
  PushSlots(1, 2);
  EXPECT_EQ(merger_.Drain(false), 0u);
  EXPECT_EQ(Came(), Lines{});
  side_producer_.Commit(item);
  merger_.Drain(false);
  EXPECT_EQ(Came(), (Lines{"slot 1", "event 100", "slot 2"}));
}

TEST_F(RingMergerTest, WithoutMergingSlotsWaitForNoItem) {
  Use(/*merges=*/false);
  side_producer_.Push(SideAny{}, "", /*commit=*/false);
  PushSlots(1, 1);
  merger_.Drain(false);
  EXPECT_EQ(Came(), Lines{"slot 1"});
}

// However long a round takes: slots that came since may be missing.
TEST_F(RingMergerTest, ARoundIsOfTheMomentAtWhichTheRingWasLookedAt) {
  merger_.Drain(false);
  EXPECT_EQ(Came(), Lines{"no slots"});
  EXPECT_GT(looked_ns_, 0u);
  EXPECT_LE(looked_ns_, told_ns_);
}

TEST_F(RingMergerTest, AtTheEndNothingIsWaitedFor) {
  side_producer_.Push(SideAny{}, "", /*commit=*/false);
  PushSlots(1, 1);
  merger_.Drain(true);
  EXPECT_EQ(Came(), Lines{"slot 1"});
}

TEST_F(RingMergerTest, EventsOfOneRingWaitForNoSlot) {
  Use(/*merges=*/false);
  side_producer_.Free(7, 1, 9, 100);
  PushSlots(1, 1);
  merger_.Drain(false);
  EXPECT_EQ(Came(), Lines{"slot 1"});
  EXPECT_EQ(merger_.waiting(), 1u);
  EXPECT_EQ(merger_.first_index(), RingMerger::kNoSlot);
}

TEST_F(RingMergerTest, WhatTheRingPassedOverIsSkipped) {
  region_.page()->head = 3 * uint64_t{kRingSlots};
  merger_.Drain(false);
  EXPECT_EQ(
      Came(),
      (Lines{"no slots", absl::StrCat("skip to ", 3 * uint64_t{kRingSlots})}));
}

}  // namespace
}  // namespace pymemrun
