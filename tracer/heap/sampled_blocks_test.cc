#include "tracer/heap/sampled_blocks.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <thread>
#include <vector>

namespace pymemrun {
namespace {

constexpr uint32_t kCapacity = 1u << 16;

constinit SampledBlocks g_blocks;  // forked children find it wiped

const void* Block(uint64_t address) {
  return reinterpret_cast<const void*>(address);
}

class SampledBlocksTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ASSERT_TRUE(g_blocks.Create(kCapacity, true));
  }
};

TEST_F(SampledBlocksTest, ABlockIsThereFromAddToRemove) {
  const void* block = Block(0x7f0000001010);
  EXPECT_FALSE(g_blocks.MayHold(block));
  EXPECT_FALSE(g_blocks.Remove(block));
  ASSERT_TRUE(g_blocks.Add(block));
  EXPECT_TRUE(g_blocks.MayHold(block));
  EXPECT_FALSE(g_blocks.Remove(Block(0x7f0000001020)));
  EXPECT_TRUE(g_blocks.Remove(block));
  EXPECT_FALSE(g_blocks.Remove(block));
  EXPECT_FALSE(g_blocks.MayHold(block));
}

TEST_F(SampledBlocksTest, WhatIsAddedIsFoundWhateverElseComesAndGoes) {
  std::set<uint64_t> there;
  uint64_t random = 1;
  for (int i = 0; i < 200000; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const uint64_t address = 0x550000000000 + (random >> 40) % 40000 * 16;
    if (there.count(address) == 0) {
      ASSERT_TRUE(g_blocks.Add(Block(address)));
      there.insert(address);
    } else {
      ASSERT_TRUE(g_blocks.MayHold(Block(address)));
      ASSERT_TRUE(g_blocks.Remove(Block(address)));
      there.erase(address);
    }
  }
  for (const uint64_t address : there) {
    EXPECT_TRUE(g_blocks.Remove(Block(address)));
  }
  EXPECT_EQ(g_blocks.fill(), 0.0);
}

TEST_F(SampledBlocksTest, AFullTableRefusesAndLosesNothing) {
  std::vector<const void*> added;
  for (uint64_t i = 1; i <= 2 * kCapacity; ++i) {
    const void* block = Block(0x600000000000 + i * 48);
    if (g_blocks.Add(block)) added.push_back(block);
  }
  EXPECT_LT(added.size(), 2 * kCapacity);
  EXPECT_GT(added.size(), kCapacity * 9 / 10);
  for (const void* block : added) EXPECT_TRUE(g_blocks.Remove(block));
  EXPECT_EQ(g_blocks.fill(), 0.0);
}

TEST_F(SampledBlocksTest, ManyBlocksOfAPageDoNotMakeItForgetOne) {
  for (uint64_t i = 0; i < 256; ++i) {
    ASSERT_TRUE(g_blocks.Add(Block(0x610000000000 + i * 16)));
  }
  for (uint64_t i = 0; i < 256; ++i) {
    const void* block = Block(0x610000000000 + i * 16);
    EXPECT_TRUE(g_blocks.MayHold(block));
    EXPECT_TRUE(g_blocks.Remove(block));
  }
}

TEST_F(SampledBlocksTest, ThreadsDoNotDisturbEachOther) {
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (uint64_t i = 0; i < 20000; ++i) {
        // Neighbours of the other threads' blocks.
        const void* block = Block(0x620000000000 + (i % 500 * 4 + t) * 16);
        ASSERT_TRUE(g_blocks.Add(block));
        ASSERT_TRUE(g_blocks.MayHold(block));
        ASSERT_TRUE(g_blocks.Remove(block));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(g_blocks.fill(), 0.0);
}

TEST_F(SampledBlocksTest, NullIsNoBlock) {
  const void* block = Block(0x640000000010);  // of a page that null shares
  ASSERT_TRUE(g_blocks.Add(block));
  EXPECT_FALSE(g_blocks.Remove(nullptr));
  EXPECT_TRUE(g_blocks.Remove(block));
  EXPECT_EQ(g_blocks.fill(), 0.0);
}

TEST_F(SampledBlocksTest, AForkedChildFindsNone) {
  const void* block = Block(0x630000000010);
  ASSERT_TRUE(g_blocks.Add(block));
  const pid_t child = fork();
  if (child == 0) {
    _exit(g_blocks.MayHold(block) || g_blocks.Remove(block));
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(g_blocks.Remove(block));
}

}  // namespace
}  // namespace pymemrun
