#include "tracer/code/known_codes.h"

#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace pymemrun {
namespace {

const void* Address(uint64_t n) {
  return reinterpret_cast<const void*>(0x7f0000000000 + n * 176);
}

class KnownCodesTest : public testing::Test {
 protected:
  KnownCodesTest() { EXPECT_TRUE(codes_.Create()); }

  KnownCodes codes_;
};

TEST_F(KnownCodesTest, FindsWhatWasAddedUntilItIsRemoved) {
  EXPECT_EQ(codes_.Find(Address(1)), 0u);
  const uint32_t id = codes_.NewId();
  codes_.Add(Address(1), id);
  EXPECT_EQ(codes_.Find(Address(1)), id);
  EXPECT_EQ(codes_.Find(Address(2)), 0u);
  EXPECT_EQ(codes_.Remove(Address(1)), id);
  EXPECT_EQ(codes_.Find(Address(1)), 0u);
  EXPECT_EQ(codes_.Remove(Address(1)), 0u);
}

TEST_F(KnownCodesTest, OneObjectAddedTwiceIsRemovedTwice) {
  codes_.Add(Address(3), 1001);
  codes_.Add(Address(3), 1002);
  EXPECT_EQ(codes_.Remove(Address(3)) + codes_.Remove(Address(3)), 2003u);
  EXPECT_EQ(codes_.Remove(Address(3)), 0u);
}

TEST_F(KnownCodesTest, AddressesThatComeBackHaveTheirNewId) {
  for (int round = 0; round < 100; ++round) {
    for (uint64_t i = 0; i < 2000; ++i) {
      ASSERT_EQ(codes_.Find(Address(i)), 0u);
      const uint32_t id = codes_.NewId();
      codes_.Add(Address(i), id);
      ASSERT_EQ(codes_.Find(Address(i)), id);
    }
    for (uint64_t i = 0; i < 2000; ++i) {
      ASSERT_NE(codes_.Remove(Address(i)), 0u);
    }
  }
}

TEST_F(KnownCodesTest, MoreThanItHoldsAreOnlyNotRemembered) {
  constexpr uint64_t kMany = 200000;
  uint64_t found = 0;
  for (uint64_t i = 0; i < kMany; ++i) codes_.Add(Address(i), 1);
  for (uint64_t i = 0; i < kMany; ++i) found += codes_.Find(Address(i));
  EXPECT_GT(found, 50000u);
  EXPECT_LT(found, kMany);
  for (uint64_t i = 0; i < kMany; ++i) codes_.Remove(Address(i));
  for (uint64_t i = 0; i < kMany; ++i) {
    ASSERT_EQ(codes_.Find(Address(i)), 0u);
  }
}

TEST_F(KnownCodesTest, ThreadsFindOnlyTheirOwn) {
  std::atomic<uint64_t> wrong{0};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([this, t, &wrong] {
      for (uint64_t i = 0; i < 50000; ++i) {
        const void* code = Address(t * 1000 + i % 997);
        const uint32_t id = codes_.NewId();
        codes_.Add(code, id);
        wrong += codes_.Find(code) != id;
        wrong += codes_.Remove(code) != id;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace pymemrun
