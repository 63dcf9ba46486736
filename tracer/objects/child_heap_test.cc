// The child's heap beside a map of what its blocks hold.
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <utility>

#include "gtest/gtest.h"
#include "tracer/objects/child_memory.h"

namespace pymemrun {
namespace {

constexpr size_t kBytes = size_t{8} << 20;

struct Filled {
  size_t bytes;
  unsigned char with;
};
using Blocks = std::map<unsigned char*, Filled>;

bool HoldsWhatWasPut(const std::pair<unsigned char* const, Filled>& block) {
  for (size_t i = 0; i < block.second.bytes; ++i) {
    if (block.first[i] != block.second.with) return false;
  }
  return true;
}

// Fails where the block is outside the others' gaps.
void Put(void* at, Filled filled, Blocks* blocks) {
  auto* const begin = static_cast<unsigned char*>(at);
  ASSERT_NE(begin, nullptr);
  ASSERT_EQ(reinterpret_cast<uintptr_t>(begin) % 16, 0u);
  memset(begin, filled.with, filled.bytes);
  const auto [place, is_new] = blocks->emplace(begin, filled);
  ASSERT_TRUE(is_new);
}

TEST(ChildHeapTest, NoBlockIsWrittenOverWhateverIsAskedFor) {
  ChildHeap heap;
  heap.Open(kBytes);
  std::mt19937 random(3);
  Blocks blocks;
  for (int i = 0; i < 6000; ++i) {
    const Filled filled = {random() % 200, static_cast<unsigned char>(i)};
    auto some = blocks.lower_bound(
        blocks.empty() ? nullptr
                       : blocks.begin()->first + random() % (kBytes / 4));
    if (some == blocks.end()) some = blocks.begin();
    const unsigned what = blocks.empty() ? 0 : random() % 4;
    if (what < 2) {
      ASSERT_NO_FATAL_FAILURE(
          Put(heap.Allocate(filled.bytes), filled, &blocks));
    } else if (what == 2) {
      ASSERT_TRUE(HoldsWhatWasPut(*some));
      heap.Free(some->first);
      blocks.erase(some);
    } else {
      const Filled had = some->second;
      void* const other = heap.Reallocate(some->first, filled.bytes);
      ASSERT_TRUE(HoldsWhatWasPut(*some));
      const Filled kept = {had.bytes < filled.bytes ? had.bytes : filled.bytes,
                           had.with};
      blocks.erase(some);
      ASSERT_TRUE(HoldsWhatWasPut({static_cast<unsigned char*>(other), kept}));
      ASSERT_NO_FATAL_FAILURE(Put(other, filled, &blocks));
    }
  }
  EXPECT_GT(blocks.size(), 1000u);
  for (const auto& block : blocks) ASSERT_TRUE(HoldsWhatWasPut(block));
}

TEST(ChildHeapTest, TheLastBlocksRoomIsUsedAgain) {
  ChildHeap heap;
  heap.Open(4096);
  for (int i = 0; i < 10000; ++i) {
    void* const first = heap.Allocate(1000);
    void* const second = heap.Allocate(500);
    ASSERT_NE(second, nullptr);
    heap.Free(second);
    heap.Free(first);
  }
}

TEST(ChildHeapTest, ZerosAreZerosWhereABlockLay) {
  ChildHeap heap;
  heap.Open(4096);
  void* const block = heap.Allocate(300);
  memset(block, 7, 300);
  heap.Free(block);
  ASSERT_EQ(heap.AllocateZeros(100, 3), block);
  ASSERT_TRUE(HoldsWhatWasPut({static_cast<unsigned char*>(block), {300, 0}}));
}

TEST(ChildHeapTest, WhatHasNoRoomIsRefusedAndHarmsNothing) {
  ChildHeap heap;
  heap.Open(4096);
  EXPECT_EQ(heap.Allocate(4096), nullptr);
  EXPECT_EQ(heap.Allocate(4081), nullptr);
  EXPECT_EQ(heap.Allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(heap.Allocate(SIZE_MAX - 15), nullptr);
  EXPECT_EQ(heap.AllocateZeros(SIZE_MAX / 2, 4), nullptr);
  EXPECT_EQ(heap.AllocateZeros(3, SIZE_MAX), nullptr);
  void* const all = heap.Allocate(4080);
  ASSERT_NE(all, nullptr);
  memset(all, 1, 4080);
  EXPECT_EQ(heap.Allocate(0), nullptr);
  EXPECT_EQ(heap.Reallocate(all, 10), nullptr);
  EXPECT_TRUE(HoldsWhatWasPut({static_cast<unsigned char*>(all), {4080, 1}}));
  heap.Free(all);
  EXPECT_NE(heap.AllocateZeros(0, 5), nullptr);
}

TEST(ChildHeapTest, AnotherHeapsBlocksAreLeftAlone) {
  ChildHeap heap;
  heap.Open(4096);
  char other[64] = "theirs";
  heap.Free(other + 32);
  heap.Free(nullptr);
  EXPECT_EQ(heap.Reallocate(other + 32, 100), nullptr);
  EXPECT_STREQ(other, "theirs");
  EXPECT_NE(heap.Reallocate(nullptr, 100), nullptr);
}

}  // namespace
}  // namespace pymemrun
