#include "readers/replay/heap_in_rss/returned_memory.h"

#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/testing/page_run_for_tests.h"
#include "text/units_for_tests.h"

namespace pymemrun {
namespace {

constexpr uint64_t kPoolBytes = 1 << 14;
// Address of the arena that becomes empty first.
constexpr uint64_t kSpare = 0x800 * kPage;

class ReturnedMemoryTest : public testing::Test {
 protected:
  void Come(uint64_t page, uint64_t pages) {
    for (const PageEntry& entry : CamePages(10, page, pages, 1)) {
      pages_.Add(entry);
    }
  }
  static BlockRange Block(uint64_t begin, uint64_t bytes, bool small = false) {
    return {begin, begin + bytes, small};
  }
  ReturnedMemory Returned() const {
    return MemoryWithout(going_, staying_, arenas_, malloc_, pages_);
  }

  ResidentModel pages_;
  std::vector<BlockRange> going_, staying_;
  std::vector<PythonArenas::Arena> arenas_;
  MallocHeap malloc_;
};

TEST_F(ReturnedMemoryTest, PagesAreAloneOrShared) {
  Come(100, 4);
  // In pages 100 to 102, and in 110, which is not there.
  going_ = {Block(110 * kPage, 100), Block(100 * kPage + 4000, 2 * kPage)};
  staying_ = {Block(102 * kPage + 4000, 50)};
  const ReturnedMemory returned = Returned();
  EXPECT_EQ(returned.alone_bytes, 2 * kPage);
  EXPECT_EQ(returned.malloc_bytes, 2 * kPage);
  EXPECT_EQ(returned.shared_bytes, kPage);
  EXPECT_EQ(returned.AtOnceBytes(), 0u);
}

TEST_F(ReturnedMemoryTest, LargeBlocksBehindTheirHeaderAreMappings) {
  Come(200, 64);
  Come(300, 64);
  going_ = {Block(200 * kPage + 16, 50 * kPage),   // 51 pages
            Block(300 * kPage + 32, 50 * kPage)};  // in malloc's heap
  const ReturnedMemory returned = Returned();
  EXPECT_EQ(returned.mapped_bytes, 51 * kPage);
  EXPECT_EQ(returned.AtOnceBytes(), 51 * kPage);
  EXPECT_EQ(returned.malloc_bytes, 51 * kPage);
}

TEST_F(ReturnedMemoryTest, AMappingReturnsAtOnceHoweverSmall) {
  Come(200, 8);
  going_ = {{200 * kPage, 204 * kPage, false, /*is_mapping=*/true}};
  staying_ = {{204 * kPage, 208 * kPage, false, /*is_mapping=*/true}};
  const ReturnedMemory returned = Returned();
  EXPECT_EQ(returned.mapped_bytes, 4 * kPage);
  EXPECT_EQ(returned.alone_bytes, 4 * kPage);
  EXPECT_EQ(returned.shared_bytes, 0u);
}

TEST_F(ReturnedMemoryTest, ArenasReturnAsAWholeWhenTheyAreEmpty) {
  const uint64_t first = 0x1000 * kPage, second = first + (1 << 20);
  arenas_ = {{kSpare, kSpare + (1 << 20), kPoolBytes},
             {first, second, kPoolBytes},
             {second, second + (1 << 20), kPoolBytes}};
  Come(first / kPage, 40);  // two of them hold blocks that go
  Come(second / kPage, 40);
  going_ = {Block(kSpare + 48, 64, true), Block(first + 48, 64, true),
            Block(first + kPoolBytes + 48, 64, true),
            Block(second + 48, 64, true), Block(second + kPage, 64, true)};
  staying_ = {Block(second + 48 + 64, 64, true)};
  const ReturnedMemory returned = Returned();
  EXPECT_EQ(returned.arenas, 1u);
  EXPECT_EQ(returned.arena_bytes, 40 * kPage);
  EXPECT_EQ(returned.kept_arena_bytes, kPage);
  EXPECT_EQ(returned.shared_bytes, kPage);
  EXPECT_EQ(returned.alone_bytes, 41 * kPage);
  EXPECT_EQ(returned.malloc_bytes, 0u);
}

// obmalloc.c keeps the first arena that becomes empty.
TEST_F(ReturnedMemoryTest, OneEmptyArenaStays) {
  for (uint64_t i = 0; i < 3; ++i) {
    const uint64_t begin = kSpare + (i << 20);
    arenas_.push_back({begin, begin + (1 << 20), kPoolBytes});
    Come(begin / kPage, 256);
    going_.push_back(Block(begin + 48, 64, true));
    const ReturnedMemory returned = Returned();
    EXPECT_EQ(returned.arenas, i);
    EXPECT_EQ(returned.arena_bytes, i << 20);
    EXPECT_EQ(returned.kept_arena_bytes, kPage);
  }
}

TEST_F(ReturnedMemoryTest, WithoutABlockThatGoesAnArenaIsNotCounted) {
  const uint64_t first = 0x1000 * kPage;
  arenas_ = {{first, first + (1 << 20), kPoolBytes}};
  Come(first / kPage, 40);
  EXPECT_EQ(Returned().alone_bytes, 0u);
  EXPECT_EQ(Returned().arenas, 0u);
}

// Arenas are aligned to pages, so the last pool may be none.
TEST_F(ReturnedMemoryTest, AMappingBehindTheLastPoolDoesNotKeepAnArena) {
  const uint64_t first = 0x1000 * kPage, end = first + (1 << 20);
  arenas_ = {{kSpare, kSpare + (1 << 20), kPoolBytes},
             {first, end, kPoolBytes}};
  Come(first / kPage, 256);
  going_ = {Block(kSpare + 48, 64, true), Block(first + 48, 64, true)};
  staying_ = {Block(end - kPage, 10 * kPage)};
  EXPECT_EQ(Returned().arena_bytes, 255 * kPage);
  staying_ = {Block(end - kPage, 64, true)};
  EXPECT_EQ(Returned().arena_bytes, 0u);
}

TEST_F(ReturnedMemoryTest, WhatWasThereBeforeTracingHoldsSomethingElse) {
  const uint64_t first = 0x1000 * kPage;
  const std::vector<ResidentRange> ranges = {
      {first / kPage - 1, 1, 0, false, false}};
  pages_.Add(ResidencyView{1, 2, 0, ranges});
  Come(first / kPage, 10);
  // It seems to begin an arena, and goes on with an older one.
  arenas_ = {{first, first + (1 << 20), kPoolBytes}};
  going_ = {Block(first - 100, 200, true)};
  const ReturnedMemory returned = Returned();
  EXPECT_EQ(returned.shared_bytes, kPage);
  EXPECT_EQ(returned.arenas, 0u);
  EXPECT_EQ(returned.kept_arena_bytes, kPage);
}

// All but 128 KiB.
TEST_F(ReturnedMemoryTest, MallocGivesBackALargeEndOfItsHeap) {
  Come(100, 200);
  malloc_ = {100 * kPage, 300 * kPage, 1 << 19};
  staying_ = {Block(150 * kPage + 100, 100)};
  // Pages 290 to 299 were free.
  going_ = {Block(110 * kPage, 30 * kPage), Block(151 * kPage, 139 * kPage)};
  const ReturnedMemory returned = Returned();
  EXPECT_EQ(returned.trimmed_bytes, (149 - 32) * kPage);
  EXPECT_EQ(returned.malloc_bytes, (30 + 32) * kPage);
  EXPECT_EQ(returned.alone_bytes, (149 + 30) * kPage);
  // The threshold has risen.
  malloc_.trim_bytes = 1 << 20;
  EXPECT_EQ(Returned().AtOnceBytes(), 0u);
  EXPECT_EQ(Returned().malloc_bytes, (139 + 30) * kPage);
  // Something stays near the end.
  malloc_.trim_bytes = 1 << 19;
  staying_.push_back(Block(295 * kPage, 10));
  EXPECT_EQ(Returned().AtOnceBytes(), 0u);
}

TEST_F(ReturnedMemoryTest, EachPageIsWhatItsBlocksSay) {
  std::mt19937_64 random(5);
  std::vector<bool> resident(400), going(400), staying(400);
  for (uint64_t page = 100; page < 400; ++page) {
    resident[page] = random() % 4 != 0;
    if (resident[page]) Come(page, 1);
  }
  for (uint64_t at = 100 * kPage; at < 398 * kPage;) {
    const uint64_t size = 1 + random() % (random() % 5 == 0 ? 7000 : 300);
    const bool goes = random() % 3 != 0;
    (goes ? going_ : staying_).push_back(Block(at, size));
    for (uint64_t page = at / kPage; page <= (at + size - 1) / kPage; ++page) {
      (goes ? going : staying)[page] = true;
    }
    at += size + random() % 9000;
  }
  uint64_t alone = 0, shared = 0;
  for (uint64_t page = 100; page < 400; ++page) {
    if (!resident[page] || !going[page]) continue;
    (staying[page] ? shared : alone) += kPage;
  }
  EXPECT_GT(alone, 0u);
  EXPECT_GT(shared, 0u);
  EXPECT_EQ(Returned().alone_bytes, alone);
  EXPECT_EQ(Returned().shared_bytes, shared);
}

// No loop over pages: what a damaged file says takes no longer.
TEST_F(ReturnedMemoryTest, VastRangesTakeNoTime) {
  const std::vector<ResidentRange> ranges = {
      {1, uint64_t{1} << 40, 0, false, false}};
  pages_.Add(ResidencyView{1, 2, 0, ranges});
  going_ = {Block(kPage, uint64_t{1} << 60)};
  EXPECT_GT(Returned().shared_bytes, uint64_t{1} << 40);
}

}  // namespace
}  // namespace pymemrun
