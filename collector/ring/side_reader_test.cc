#include "collector/ring/side_reader.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "collector/ring/side_ring_fixture.h"
#include "tracer/wire/region_for_tests.h"

namespace pymemrun {
namespace {

constexpr uint64_t kSecond = 1000000000;

class SideReaderTest : public testing::Test {
 protected:
  struct Item {
    SideItemView view;
    std::string payload;
  };

  size_t Drain(uint64_t now_ns = 0, bool last = false) {
    return reader_.Drain(now_ns, last, [this](const SideItemView& view) {
      items_.push_back({view, std::string(view.payload)});
    });
  }
  uint64_t Lost() const {
    return reader_.lost(SideParty::kPages) + reader_.lost(SideParty::kHeap) +
           reader_.lost(SideParty::kEither);
  }
  static std::vector<SideFrame> Frames(uint32_t count) {
    std::vector<SideFrame> frames;
    for (uint32_t i = 0; i < count; ++i) frames.push_back({i + 1, 10 * i});
    return frames;
  }
  // A free that a living thread has begun, which is returned, and an item
  // behind it.
  uint64_t BeginAndLive() {
    SideAny head;
    head.kind = SideKind::kFree;
    const uint64_t index = producer_.Push(head, "", /*commit=*/false);
    producer_.Begin(index, SideKind::kFree, 7);
    producer_.Touch(8, 2, 0x9000, {});
    living_thread_ = 7;
    return index;
  }

  TestRegion region_;
  ControlPage* const page_ = region_.page();
  ReplyPage* const reply_ = region_.reply();
  SideProducer producer_{page_, region_.cells()};
  SideReader reader_{page_, region_.cells(), reply_, [this](uint32_t thread) {
                       return thread == living_thread_;
                     }};
  uint32_t living_thread_ = 0;
  std::vector<Item> items_;
};

TEST_F(SideReaderTest, ItemsComeWithAllTheirFrames) {
  for (const uint32_t count : {0u, 1u, 2u, 8u, 9u, 512u}) {
    producer_.Touch(7, 1000 + count, 0x5000, Frames(count), kSideLate);
  }
  EXPECT_EQ(Drain(), 1 + 1 + 2 + 2 + 3 + 74u);
  ASSERT_EQ(items_.size(), 6u);
  EXPECT_EQ(items_[5].view.kind, SideKind::kTouch);
  EXPECT_EQ(items_[5].view.thread, 7u);
  EXPECT_EQ(items_[5].view.time_ns, 1512u);
  EXPECT_EQ(items_[5].view.As<SideTouch>().address, 0x5000u);
  EXPECT_EQ(items_[5].view.flags, kSideLate);
  EXPECT_EQ(items_[5].view.frame.code, 1u);
  ASSERT_EQ(items_[5].payload.size(), 511 * sizeof(SideFrame));
  const auto* rest =
      reinterpret_cast<const SideFrame*>(items_[5].payload.data());
  EXPECT_EQ(rest[510].code, 512u);
  EXPECT_EQ(rest[510].position, 5110u);
  EXPECT_TRUE(reader_.drained());
  EXPECT_EQ(reply_->side_tail.load(), page_->side_head.load());
}

TEST_F(SideReaderTest, WhatIsNotCommittedIsWaitedFor) {
  SideAny head;
  head.kind = SideKind::kTouch;
  head.detail = 2;
  const uint64_t index = producer_.Push(head, "01234567", /*commit=*/false);
  producer_.Touch(8, 2, 0, {});
  EXPECT_EQ(Drain(1), 0u);
  EXPECT_FALSE(reader_.drained());
  producer_.Commit(index + 1);
  producer_.Commit(index);
  EXPECT_EQ(Drain(2), 3u);
  ASSERT_EQ(items_.size(), 2u);
  EXPECT_EQ(items_[0].payload, "01234567");
  EXPECT_EQ(Lost(), 0u);
}

TEST_F(SideReaderTest, ADeadThreadsItemIsPassedOverAfterTwoSeconds) {
  SideAny head;
  head.kind = SideKind::kTouch;
  head.detail = 512;
  const std::string payload(511 * sizeof(SideFrame), '\x01');
  const uint64_t index = producer_.Push(head, payload, /*commit=*/false);
  // It died in the middle of committing, from the last cell to the first.
  for (uint64_t i = 73; i > 40; --i) producer_.Commit(index + i);
  producer_.Touch(8, 2, 0x9000, Frames(3));
  Drain(kSecond);
  Drain(2 * kSecond);
  EXPECT_TRUE(items_.empty());
  Drain(3 * kSecond + 1);
  ASSERT_EQ(items_.size(), 1u);
  EXPECT_EQ(items_[0].view.As<SideTouch>().address, 0x9000u);
  EXPECT_EQ(Lost(), 1u);
  EXPECT_TRUE(reader_.drained());
}

// A call may take long, and its thread may be stopped.
TEST_F(SideReaderTest, ALivingThreadsItemIsWaitedFor) {
  const uint64_t index = BeginAndLive();
  for (uint64_t s = 1; s < 20; ++s) Drain(s * kSecond);
  EXPECT_FALSE(reader_.drained());
  producer_.Commit(index);
  Drain(20 * kSecond);
  EXPECT_EQ(items_.size(), 2u);
  EXPECT_EQ(Lost(), 0u);
}

// A signal's handler may have left the call that it is held across.
TEST_F(SideReaderTest, ALivingThreadsItemIsPassedOverAfterAMinute) {
  BeginAndLive();
  for (uint64_t s = 1; s < 61; ++s) Drain(s * kSecond);
  EXPECT_FALSE(reader_.drained());
  Drain(64 * kSecond);
  EXPECT_TRUE(reader_.drained());
  EXPECT_EQ(items_.size(), 1u);
  EXPECT_EQ(reader_.lost(SideParty::kHeap), 1u);
}

TEST_F(SideReaderTest, WhatIsLostIsCountedByWhoseItWas) {
  SideAny head;
  const SideKind kinds[] = {SideKind::kNothing, SideKind::kFree,
                            SideKind::kTouch, SideKind::kAlloc,
                            SideKind::kUnmap};
  for (const SideKind kind : kinds) {
    producer_.Begin(producer_.Push(head, "", /*commit=*/false), kind, 7);
  }
  producer_.Touch(8, 2, 0x9000, {});
  Drain(1, /*last=*/true);
  EXPECT_EQ(items_.size(), 1u);
  EXPECT_EQ(reader_.lost(SideParty::kHeap), 3u);
  EXPECT_EQ(reader_.lost(SideParty::kPages), 1u);
  EXPECT_EQ(reader_.lost(SideParty::kEither), 0u);
}

// It may be committed yet.
TEST_F(SideReaderTest, AnItemBegunBehindADeadThreadsIsNotPassedOverWithIt) {
  SideAny head;
  head.kind = SideKind::kTouch;
  producer_.Push(head, "", /*commit=*/false);
  const uint64_t second = producer_.Push(head, "", /*commit=*/false);
  producer_.Begin(second, SideKind::kTouch, 7);
  Drain(1);
  Drain(1 + 2 * kSecond + 1);
  EXPECT_EQ(reply_->side_tail.load(), second);
  EXPECT_EQ(Lost(), 1u);
}

TEST_F(SideReaderTest, WhoLooksWithAnEarlierTimeIsNoLessPatient) {
  SideAny head;
  head.kind = SideKind::kTouch;
  producer_.Push(head, "", /*commit=*/false);
  Drain(2 * kSecond);
  Drain(2 * kSecond - 1);
  EXPECT_EQ(Lost(), 0u);
  EXPECT_FALSE(reader_.drained());
}

// As one of an interposed call that is under way: what is behind it waits too.
TEST_F(SideReaderTest, ItemsOfNothingBehindADeadThreadsAreNotLost) {
  SideAny head;
  head.kind = SideKind::kTouch;
  producer_.Push(head, "", /*commit=*/false);
  producer_.Plain(SideKind::kNothing, 0);
  const uint64_t second = producer_.Push(head, "", /*commit=*/false);
  producer_.Touch(8, 2, 0x9000, {});
  Drain(1);
  Drain(1 + 2 * kSecond + 1);
  EXPECT_EQ(Lost(), 1u);
  EXPECT_EQ(reply_->side_tail.load(), second);  // waits anew, for this one
  EXPECT_TRUE(items_.empty());
  producer_.Commit(second);
  Drain(1 + 2 * kSecond + 2);
  EXPECT_EQ(items_.size(), 2u);
  EXPECT_EQ(Lost(), 1u);
}

TEST_F(SideReaderTest, AtTheEndNothingIsWaitedFor) {
  SideAny head;
  head.kind = SideKind::kTouch;
  producer_.Push(head, "", /*commit=*/false);
  producer_.Touch(8, 2, 0x9000, Frames(3));
  producer_.Push(head, "", /*commit=*/false);
  Drain(1, /*last=*/true);
  EXPECT_EQ(items_.size(), 1u);
  EXPECT_EQ(Lost(), 2u);
  EXPECT_TRUE(reader_.drained());
}

TEST_F(SideReaderTest, TheRingGoesRoundAndRound) {
  uint64_t next = 0;
  for (int round = 0; round < 300; ++round) {
    for (int i = 0; i < 100; ++i) producer_.Touch(1, next++, 0, Frames(i % 40));
    Drain();
    ASSERT_TRUE(reader_.drained());
  }
  EXPECT_GT(page_->side_head.load(), 2 * kSideCells);
  ASSERT_EQ(items_.size(), next);
  for (size_t i = 0; i < items_.size(); ++i) {
    ASSERT_EQ(items_[i].view.time_ns, i);
  }
}

TEST_F(SideReaderTest, NonsenseIsPassedOver) {
  SideAny head;
  head.kind = static_cast<SideKind>(99);
  producer_.Push(head, "");
  head.kind = SideKind::kTouch;
  head.detail = 500;  // more frames than it has cells for
  producer_.Push(head, "01234567");
  producer_.Touch(8, 2, 0x9000, {});
  Drain();
  ASSERT_EQ(items_.size(), 1u);
  EXPECT_EQ(items_[0].view.As<SideTouch>().address, 0x9000u);
  page_->side_head.store(1u << 30);  // somebody wrote over the page
  EXPECT_EQ(Drain(), 0u);
}

TEST_F(SideReaderTest, DefinitionsOfTheLargestSizeArrive) {
  producer_.Code(5, "f.py", "f", 3, std::string(kMaxSideDefinition - 64, 'x'));
  Drain();
  ASSERT_EQ(items_.size(), 1u);
  EXPECT_EQ(items_[0].view.kind, SideKind::kCode);
  EXPECT_EQ(items_[0].payload.size(), items_[0].view.As<SideCode>().bytes);
}

TEST_F(SideReaderTest, ItemsOfManyThreadsAllArriveInEachThreadsOrder) {
  constexpr uint32_t kThreads = 4, kItems = 50000;
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, t] {
      for (uint32_t i = 0; i < kItems; ++i) {
        // Room for what all may add at once.
        while (page_->side_head.load() - reply_->side_tail.load() >
               kSideCells - 100) {
          std::this_thread::yield();
        }
        producer_.Touch(t, i, 0, Frames(i % 10));
      }
    });
  }
  std::vector<uint64_t> next(kThreads);
  uint64_t seen = 0;
  while (seen < kThreads * kItems) {
    Drain();
    for (const Item& item : items_) {
      ASSERT_EQ(item.view.time_ns, next[item.view.thread]++);
      ASSERT_EQ(item.view.detail, item.view.time_ns % 10);
    }
    seen += items_.size();
    items_.clear();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Lost(), 0u);
}

}  // namespace
}  // namespace pymemrun
