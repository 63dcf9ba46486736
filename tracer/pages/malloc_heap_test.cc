#include "tracer/pages/malloc_heap.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <climits>
#include <thread>
#include <vector>

#include "tracer/pages/heap_end_watch.h"

namespace pymemrun {
namespace {

constexpr size_t kBlock = 4000;  // is never cached, nor mapped

const char* Break() { return static_cast<const char*>(sbrk(0)); }

HeapEnd EndAboveAny(const void* block, size_t kept_bytes = 0) {
  const ThreadHeap* const heap = ThreadHeapOf(block);
  const auto begin = reinterpret_cast<const char*>(heap);
  // Nothing of this process's heap is left out.
  return EndAbove(block, kept_bytes, begin,
                  heap != nullptr ? begin + heap->bytes : Break());
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
  EXPECT_EQ(mapping.bytes,
            (size_t{1} << 20) + static_cast<size_t>(sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(MappedBlockOf(Allocate(kBlock)).bytes, 0u);
  EXPECT_EQ(EndAboveAny(block).bytes, 0u);
}

// The words before a block as glibc 2.43 and earlier versions write them.
TEST(MappedBlockTest, TheSizeHasTheTwoWordsBeforeTheBlockOrLacksThem) {
  alignas(4096) static size_t memory[3 * 512];
  size_t* const block = memory + 512 + 2;
  for (const size_t before : {size_t{0}, size_t{4096}}) {
    for (const size_t size : {size_t{8192}, size_t{8192} - 16}) {
      block[-2] = before;
      block[-1] = size | 2;
      const MappedBlock mapping = MappedBlockOf(block);
      EXPECT_EQ(mapping.start, reinterpret_cast<char*>(block) - 16 - before);
      EXPECT_EQ(mapping.bytes, 8192 + before);
    }
  }
  block[-1] = (8192 - 32) | 2;  // another allocator's
  EXPECT_EQ(MappedBlockOf(block).bytes, 0u);
}

TEST_F(MallocHeapTest, TheEndIsAsLargeAsMallocSaysOnceTheBlockIsFreed) {
  const HeapEnd end = EndAboveAny(AllocateLast());
  EXPECT_EQ(ThreadHeapOf(blocks_.back()), nullptr);
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
}

TEST_F(MallocHeapTest, AThreadsHeapIsFoundAndGetsSmaller) {
  std::thread([this] {
    std::vector<void*> own;
    own.reserve(500);  // below them
    for (int i = 0; i < 500; ++i) own.push_back(malloc(kBlock));
    const ThreadHeap* const heap = ThreadHeapOf(own.back());
    ASSERT_NE(heap, nullptr);
    EXPECT_EQ(heap->before, nullptr);
    EXPECT_LE(EndAboveAny(own.back()).bytes, heap->bytes);
    EXPECT_LE(heap->bytes, heap->accessible_bytes);
    mallopt(M_TRIM_THRESHOLD, 64 << 10);
    const size_t bytes = heap->bytes;
    for (; !own.empty(); own.pop_back()) free(own.back());
    EXPECT_LE(heap->bytes, bytes - 500 * kBlock + (256 << 10));
  }).join();
}

TEST_F(MallocHeapTest, AThreadsHeapIsKnownByWhatStandsAtItsBegin) {
  std::thread([] {
    void* volatile made = malloc(kBlock);
    void* const block = made;  // the compiler does not know its size
    ThreadHeaps heaps;
    EXPECT_FALSE(heaps.Know(ThreadHeapOf(block), block));  // not started
    heaps.Start();
    EXPECT_TRUE(heaps.Know(ThreadHeapOf(block), block));
    EXPECT_TRUE(heaps.Know(ThreadHeapOf(block), block));
    free(block);
  }).join();
}

TEST(ThreadHeapsTest, WhereOneIsNoneNoOtherIsLookedFor) {
  constexpr size_t kMost = ThreadHeap::kMostBytes;
  void* area = mmap(nullptr, 2 * kMost, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(area, MAP_FAILED);
  const uintptr_t begin =
      (reinterpret_cast<uintptr_t>(area) + kMost - 1) & ~(kMost - 1);
  auto* const heap = reinterpret_cast<ThreadHeap*>(begin);
  const auto* const block = reinterpret_cast<const char*>(begin) + 8192;
  ThreadHeaps heaps;
  heaps.Start();
  EXPECT_FALSE(heaps.Know(heap, block));  // it cannot be read
  ASSERT_EQ(mprotect(heap, 4096, PROT_READ | PROT_WRITE), 0);
  *heap = {area, nullptr, 16384, 16384};
  EXPECT_FALSE(heaps.Know(heap, block));
  ThreadHeaps others;
  others.Start();
  EXPECT_TRUE(others.Know(heap, block));
  heap->bytes = 4096;  // the block is beyond
  others.Forget(heap);
  EXPECT_FALSE(others.Know(heap, block));
  munmap(area, 2 * kMost);
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
