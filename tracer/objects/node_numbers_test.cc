// Numbers of nodes and the maps beside them, with keys that look like
// addresses.
#include "tracer/objects/node_numbers.h"

#include <map>
#include <random>

#include "gtest/gtest.h"

namespace pymemrun {
namespace {

constexpr uint64_t kRoot = 7;

TEST(NodeNumbersTest, ANumberIsGivenOnceAndInOrder) {
  NodeNumbers numbers;
  EXPECT_FALSE(numbers.Has(0x1000));
  EXPECT_EQ(numbers.Number(kRoot), 0u);
  std::map<uint64_t, uint32_t> expected;
  std::mt19937_64 random(1);
  // Neighbours, far ones, and tagged ones; through several growths.
  for (int i = 0; i < 400000; ++i) {
    const uint64_t key =
        i % 2 == 0 ? 0x7f0000000000 + random() % 300000 * 8 + random() % 4
                   : (random() >> 17) & ~uint64_t{7};
    if (key == 0) continue;
    const auto next = static_cast<uint32_t>(expected.size() + 1);
    const auto [place, is_new] = expected.emplace(key, next);
    EXPECT_EQ(numbers.Has(key), !is_new);
    ASSERT_EQ(numbers.Number(key), place->second);
  }
  EXPECT_EQ(numbers.count(), expected.size() + 1);
  for (const auto& [key, number] : expected) {
    ASSERT_EQ(numbers.key(number), key);
    ASSERT_EQ(numbers.Number(key), number);
  }
}

TEST(PointerMapTest, FindsWhatWasAdded) {
  PointerMap map;
  EXPECT_EQ(map.Find(8), 0u);
  for (uint32_t i = 1; i <= 100000; ++i) map.Add(uint64_t{i} * 8, i);
  for (uint32_t i = 1; i <= 100000; ++i) {
    ASSERT_EQ(map.Find(uint64_t{i} * 8), i);
    ASSERT_EQ(map.Find(uint64_t{i} * 8 + 1), 0u);
  }
}

TEST(ChildArrayTest, KeepsWhatItHasWhenItGrows) {
  struct Odd {
    uint32_t a, b, c;
  };
  ChildArray<Odd> array;
  for (uint32_t i = 0; i < 100000; ++i) array.Push({i, i + 1, i + 2});
  ASSERT_EQ(array.size(), 100000u);
  for (uint32_t i = 0; i < 100000; ++i) {
    ASSERT_EQ(array[i].a, i);
    ASSERT_EQ(array[i].c, i + 2);
  }
}

TEST(ChildArenaTest, PiecesDoNotOverlap) {
  ChildArena arena;
  char* before = nullptr;
  for (size_t bytes = 1; bytes < 3000; bytes += 7) {
    char* const piece = static_cast<char*>(arena.Allocate(bytes));
    for (size_t i = 0; i < bytes; ++i) ASSERT_EQ(piece[i], 0);
    for (size_t i = 0; i < bytes; ++i) piece[i] = 1;
    ASSERT_NE(piece, before);
    before = piece;
  }
}

}  // namespace
}  // namespace pymemrun
