#include "tracer/malloc_heap.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include <climits>
#include <thread>
#include <vector>

#include "tracer/trim_forecast.h"

namespace pymemrun {
namespace {

constexpr size_t kBlock = 4000;  // is never cached, nor mapped

const char* Break() { return static_cast<const char*>(sbrk(0)); }

HeapEnd EndAboveAny(const void* block, size_t kept_bytes = 0) {
  // Nothing of this process's heap is left out.
  return EndAbove(block, kept_bytes, nullptr, Break());
}

class MallocHeapTest : public testing::Test {
 protected:
  // Where blocks come from the end of the heap, and it stays.
  MallocHeapTest() {
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
  }
  ~MallocHeapTest() override {
    for (void* block : blocks_) free(block);
  }
  void* Allocate(size_t bytes) {
    blocks_.push_back(malloc(bytes));
    return blocks_.back();
  }
  // A block right below the end of the calling thread's heap.
  void* AllocateLast() {
    while (EndAboveAny(Allocate(kBlock)).bytes == 0) {
    }
    return blocks_.back();
  }
  void FreeLast() {
    free(blocks_.back());
    blocks_.pop_back();
  }
  std::vector<void*> blocks_;
};

TEST_F(MallocHeapTest, ABlockOfItsOwnMappingIsFound) {
  void* block = Allocate(1 << 20);
  const MappedBlock mapping = MappedBlockOf(block);
  EXPECT_EQ(mapping.start, static_cast<char*>(block) - 16);
  EXPECT_EQ(mapping.bytes, (size_t{1} << 20) + 4096);
  EXPECT_EQ(MappedBlockOf(Allocate(kBlock)).bytes, 0u);
  EXPECT_EQ(EndAboveAny(block).bytes, 0u);
}

TEST_F(MallocHeapTest, TheEndIsAsLargeAsMallocSaysOnceTheBlockIsFreed) {
  const HeapEnd end = EndAboveAny(AllocateLast());
  EXPECT_EQ(end.heap, nullptr);
  EXPECT_FALSE(end.may_be_cached);
  FreeLast();
  EXPECT_EQ(end.bytes, mallinfo2().keepcost);
}

TEST_F(MallocHeapTest, AFreeBlockBelowJoinsIt) {
  AllocateLast();
  void* below = blocks_.back();
  void* last = AllocateLast();
  ASSERT_EQ(static_cast<char*>(last) - static_cast<char*>(below),
            static_cast<ptrdiff_t>(malloc_usable_size(below) + 8));
  blocks_.pop_back();
  FreeLast();
  const HeapEnd end = EndAboveAny(last);
  free(last);
  EXPECT_EQ(end.bytes, mallinfo2().keepcost);
}

TEST_F(MallocHeapTest, WhatIsKeptOfABlockDoesNotJoinIt) {
  void* last = AllocateLast();
  EXPECT_EQ(EndAboveAny(last, 1000).bytes, EndAboveAny(last).bytes - 1000);
  EXPECT_EQ(EndAboveAny(last, 2 * kBlock).bytes, 0u);
}

TEST_F(MallocHeapTest, ABlockBelowAnotherIsNotAtTheEnd) {
  void* block = AllocateLast();
  AllocateLast();
  EXPECT_EQ(EndAboveAny(block).bytes, 0u);
  EXPECT_EQ(EndAbove(blocks_.back(), 0, Break(), Break()).bytes, 0u);
  EXPECT_EQ(EndAboveAny(nullptr).bytes, 0u);
}

TEST_F(MallocHeapTest, AThreadsHeapIsFoundAndGetsSmaller) {
  std::thread([this] {
    std::vector<void*> own;
    own.reserve(500);  // below them
    for (int i = 0; i < 500; ++i) own.push_back(malloc(kBlock));
    const HeapEnd end = EndAboveAny(own.back());
    ASSERT_NE(end.heap, nullptr);
    EXPECT_EQ(end.heap->before, nullptr);
    EXPECT_LE(end.bytes, end.heap->bytes);
    EXPECT_LE(end.heap->bytes, end.heap->accessible_bytes);
    mallopt(M_TRIM_THRESHOLD, 64 << 10);
    const size_t bytes = end.heap->bytes;
    for (; !own.empty(); own.pop_back()) free(own.back());
    EXPECT_LE(end.heap->bytes, bytes - 500 * kBlock + (256 << 10));
  }).join();
}

HeapEnd EndOf(size_t bytes, bool may_be_cached = false) {
  HeapEnd end;
  end.bytes = bytes;
  end.may_be_cached = may_be_cached;
  return end;
}

TEST(TrimForecastTest, WhatStayedWillStay) {
  TrimForecast forecast;
  EXPECT_FALSE(forecast.IsExpected(EndOf(60000)));
  EXPECT_TRUE(forecast.IsExpected(EndOf(100000)));
  forecast.Saw(EndOf(100000), false);
  EXPECT_FALSE(forecast.IsExpected(EndOf(100000)));
  EXPECT_TRUE(forecast.IsExpected(EndOf(100001)));
  forecast.Saw(EndOf(90000), true);  // less is enough now
  EXPECT_TRUE(forecast.IsExpected(EndOf(90000)));
  EXPECT_FALSE(forecast.IsExpected(EndOf(80000)));
}

TEST(TrimForecastTest, ACachedBlockSaysNothingOfOthers) {
  TrimForecast forecast;
  forecast.Saw(EndOf(200000, true), false);
  EXPECT_FALSE(forecast.IsExpected(EndOf(150000, true)));
  EXPECT_TRUE(forecast.IsExpected(EndOf(150000)));
  forecast.Saw(EndOf(150000), false);
  EXPECT_FALSE(forecast.IsExpected(EndOf(150000)));
  EXPECT_TRUE(forecast.IsExpected(EndOf(200001, true)));
}

}  // namespace
}  // namespace pymemrun
