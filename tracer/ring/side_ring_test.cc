// The producers' half of the side ring beside a consumer written here: items of
// several threads and of a handler come out whole, around the ring's end; a
// full ring blocks or drops as told.
#include "tracer/ring/side_ring.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <map>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "tracer/wire/region_for_tests.h"

namespace pymemrun {
namespace {

class SideRingTest : public testing::Test {
 protected:
  SideRingTest() {
    reply_->collector_pid = static_cast<uint32_t>(getpid());  // it lives
    EXPECT_TRUE(SideRing::Open(page_));
  }
  ~SideRingTest() override { SideRing::Close(); }

  void StartAt(uint64_t cell) { page_->side_head = reply_->side_tail = cell; }

  const SideContinued& Cell(uint64_t index) const {
    return region_.cells()[index & (kSideCells - 1)];
  }
  const SideTouch& Head(uint64_t index) const {
    return reinterpret_cast<const SideTouch&>(Cell(index));
  }
  bool Committed(uint64_t index) const {
    return Cell(index).sequence.load(std::memory_order_acquire) == index + 1;
  }

  uint64_t Dropped(SideParty party = SideParty::kPages) const {
    return page_->side_dropped[static_cast<uint32_t>(party)];
  }

  // The item at the tail with its payload; the tail moves behind it. Returns
  // false when none is committed.
  bool Take(uint64_t* address, std::string* payload) {
    const uint64_t at = reply_->side_tail;
    if (at == page_->side_head || !Committed(at)) return false;
    *address = Head(at).address;
    payload->clear();
    const uint32_t cells = Head(at).cells;
    for (uint32_t i = 1; i < cells; ++i) {
      EXPECT_TRUE(Committed(at + i)) << "a head before what continues it";
      payload->append(Cell(at + i).payload, kSidePayloadBytes);
    }
    reply_->side_tail = at + cells;
    return true;
  }

  TestRegion region_;
  ControlPage* const page_ = region_.page();
  ReplyPage* const reply_ = region_.reply();
};

bool PutItem(uint64_t address, const std::string& payload) {
  SideItem item(SideKind::kTouch, payload.size());
  if (!item.ok()) return false;
  item.head<SideTouch>().address = address;
  item.Append(payload.data(), payload.size());
  item.Commit();
  return true;
}

TEST_F(SideRingTest, ItemsComeOutWholeAroundTheRingsEnd) {
  StartAt(3 * uint64_t{kSideCells} - 2);
  const std::string long_payload(3 * kSidePayloadBytes + 1, 'x');
  ASSERT_TRUE(PutItem(1, ""));
  ASSERT_TRUE(PutItem(2, long_payload));
  ASSERT_TRUE(PutItem(3, "end"));
  uint64_t address;
  std::string payload;
  ASSERT_TRUE(Take(&address, &payload));
  EXPECT_EQ(address, 1u);
  EXPECT_EQ(payload, "");
  ASSERT_TRUE(Take(&address, &payload));
  EXPECT_EQ(address, 2u);
  EXPECT_EQ(payload.substr(0, long_payload.size()), long_payload);
  EXPECT_EQ(payload.size(), 4 * kSidePayloadBytes);
  ASSERT_TRUE(Take(&address, &payload));
  EXPECT_EQ(payload.substr(0, 3), "end");
  EXPECT_FALSE(Take(&address, &payload));
}

TEST_F(SideRingTest, AnItemThatIsNotCommittedIsNotThere) {
  uint64_t address;
  std::string payload;
  {
    SideItem item(SideKind::kTouch, 100);
    ASSERT_TRUE(item.ok());
    item.head<SideTouch>().address = 7;
    EXPECT_FALSE(Take(&address, &payload));
    item.Commit();
  }
  ASSERT_TRUE(Take(&address, &payload));
  EXPECT_EQ(address, 7u);
}

TEST_F(SideRingTest, ItemsOfAllThreadsComeInTheirOwnOrder) {
  constexpr uint64_t kThreads = 4, kItems = 20000;
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([t] {
      for (uint64_t i = 0; i < kItems; ++i) {
        const std::string payload(i % 200, static_cast<char>('a' + t));
        ASSERT_TRUE(PutItem(t << 32 | i, payload));
      }
    });
  }
  std::map<uint64_t, uint64_t> next;
  for (uint64_t taken = 0; taken < kThreads * kItems;) {
    uint64_t address;
    std::string payload;
    if (!Take(&address, &payload)) {
      std::this_thread::yield();
      continue;
    }
    ++taken;
    const uint64_t i = address & 0xffffffff;
    ASSERT_EQ(i, next[address >> 32]++);
    const std::string expected(i % 200,
                               static_cast<char>('a' + (address >> 32)));
    ASSERT_EQ(payload.substr(0, expected.size()), expected);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Dropped(), 0u);
}

TEST_F(SideRingTest, AnItemThatIsBegunSaysWhatAndWhose) {
  StartAt(5);
  SideItem place(SideKind::kNothing, 0);
  ASSERT_TRUE(place.ok());
  EXPECT_EQ(Cell(5).sequence.load(), kSideBegun | 6);
  EXPECT_EQ(Head(5).kind, SideKind::kNothing);
  EXPECT_EQ(Head(5).thread, static_cast<uint32_t>(gettid()));
  place.Commit();
  EXPECT_TRUE(Committed(5));
}

TEST_F(SideRingTest, WhatFindsNoRoomIsCountedByWhoseItIs) {
  page_->on_full = OnFull::kDrop;
  StartAt(0);
  page_->side_head = kSideCells;
  for (const SideKind kind :
       {SideKind::kAlloc, SideKind::kFree, SideKind::kCode, SideKind::kRange,
        SideKind::kNothing}) {
    EXPECT_FALSE(SideItem(kind, 0).ok());
  }
  EXPECT_EQ(Dropped(SideParty::kHeap), 2u);
  EXPECT_EQ(Dropped(SideParty::kPages), 1u);
  EXPECT_EQ(Dropped(SideParty::kEither), 1u);
}

TEST_F(SideRingTest, AFullRingDropsWhereItMayNotWait) {
  page_->on_full = OnFull::kDrop;
  while (PutItem(0, std::string(40 * kSidePayloadBytes, 'x'))) {
  }
  EXPECT_EQ(Dropped(), 1u);
  EXPECT_EQ(page_->side_stalls, 0u);
  reply_->side_tail = page_->side_head.load();
  EXPECT_TRUE(PutItem(0, ""));
}

TEST_F(SideRingTest, AFullRingWaitsForRoom) {
  page_->on_full = OnFull::kBlock;
  StartAt(0);
  page_->side_head = kSideCells;
  std::thread collector([this] {
    while (page_->side_stalls == 0) std::this_thread::yield();
    reply_->side_tail = kSideCells;
  });
  EXPECT_TRUE(PutItem(5, "x"));
  collector.join();
  EXPECT_EQ(Dropped(), 0u);
  EXPECT_EQ(page_->side_stalls, 1u);
}

std::atomic<bool> g_put_in_handler;

TEST_F(SideRingTest, AHandlerNeverWaitsForWhatItInterrupted) {
  page_->on_full = OnFull::kBlock;
  StartAt(0);
  page_->side_head = kSideCells - 2;
  SideItem item(SideKind::kTouch, kSidePayloadBytes);
  ASSERT_TRUE(item.ok());  // and the ring is full
  signal(SIGUSR1, [](int) { g_put_in_handler = PutItem(1, "x"); });
  raise(SIGUSR1);
  signal(SIGUSR1, SIG_DFL);
  EXPECT_FALSE(g_put_in_handler);
  EXPECT_EQ(page_->side_stalls, 0u);
  EXPECT_EQ(Dropped(), 1u);
  item.Commit();
}

TEST_F(SideRingTest, AForkedChildFindsItClosed) {
  const pid_t child = fork();
  if (child == 0) _exit(SideRing::page() == nullptr && !PutItem(1, "") ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(page_->side_head, 0u);
}

}  // namespace
}  // namespace pymemrun
