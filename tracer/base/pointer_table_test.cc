#include "tracer/base/pointer_table.h"

#include <random>
#include <unordered_map>
#include <vector>

#include "gtest/gtest.h"

namespace pymemrun {
namespace {

struct Entry {
  const void* key;
  uint64_t value;
  bool empty() const { return key == nullptr; }
  uint64_t hash() const { return HashAddress(key); }
};

constexpr uint32_t kSize = 64;
using Table = PointerTable<Entry, kSize>;

class PointerTableTest : public testing::Test {
 protected:
  PointerTableTest() : memory_(Table::kBytes) { table_.Use(memory_.data()); }

  Entry* Find(const void* key) {
    return table_.Find(HashAddress(key),
                       [key](const Entry& e) { return e.key == key; });
  }
  void Insert(const void* key, uint64_t value) {
    table_.Insert(Find(key), Entry{key, value});
  }

  std::vector<char> memory_;
  Table table_;
};

const void* Key(uintptr_t n) { return reinterpret_cast<const void*>(n * 16); }

TEST_F(PointerTableTest, FindsWhatWasInserted) {
  Insert(Key(1), 10);
  Insert(Key(2), 20);
  EXPECT_EQ(Find(Key(1))->value, 10u);
  EXPECT_EQ(Find(Key(2))->value, 20u);
  EXPECT_TRUE(Find(Key(3))->empty());
}

TEST_F(PointerTableTest, ErasedKeysAreGoneAndOthersStay) {
  for (uintptr_t i = 1; i <= 40; ++i) Insert(Key(i), i);
  for (uintptr_t i = 1; i <= 40; i += 2) table_.Erase(Find(Key(i)));
  for (uintptr_t i = 1; i <= 40; ++i) {
    if (i % 2 == 1) {
      EXPECT_TRUE(Find(Key(i))->empty()) << i;
    } else {
      EXPECT_EQ(Find(Key(i))->value, i);
    }
  }
  EXPECT_EQ(table_.used(), 20u);
}

TEST_F(PointerTableTest, AddressReusedAfterErasureHasItsNewValue) {
  Insert(Key(7), 1);
  table_.Erase(Find(Key(7)));
  Insert(Key(7), 2);
  EXPECT_EQ(Find(Key(7))->value, 2u);
}

TEST_F(PointerTableTest, IsFullAtThreeQuarters) {
  uintptr_t n = 0;
  while (!table_.full()) {
    ++n;
    Insert(Key(n), n);
  }
  EXPECT_EQ(n, kSize * 3 / 4);
  table_.Clear();
  EXPECT_FALSE(table_.full());
  EXPECT_TRUE(Find(Key(1))->empty());
}

TEST_F(PointerTableTest, EraseIfTakesAllThatMatch) {
  for (uintptr_t i = 1; i <= 48; ++i) Insert(Key(i), i % 3);
  table_.EraseIf([](const Entry& e) { return e.value == 0; });
  for (uintptr_t i = 1; i <= 48; ++i) {
    EXPECT_EQ(Find(Key(i))->empty(), i % 3 == 0) << i;
  }
}

// Random insertions and erasures behave as a map's: the shifting back never
// loses an entry that collided. Keys are few, so chains are long.
TEST_F(PointerTableTest, BehavesAsAMapUnderRandomUse) {
  std::mt19937 random(20261121);
  std::unordered_map<const void*, uint64_t> oracle;
  for (uint64_t step = 0; step < 200'000; ++step) {
    const void* key = Key(1 + random() % 60);
    if (oracle.count(key) != 0) {
      ASSERT_EQ(Find(key)->value, oracle[key]);
      if (random() % 2 == 0) {
        table_.Erase(Find(key));
        oracle.erase(key);
      }
    } else {
      ASSERT_TRUE(Find(key)->empty());
      if (!table_.full()) {
        Insert(key, step);
        oracle[key] = step;
      }
    }
    ASSERT_EQ(table_.used(), oracle.size());
  }
}

TEST(HashTest, NeighbouringAddressesSpread) {
  std::vector<int> buckets(64);
  for (uintptr_t i = 0; i < 6400; ++i) {
    ++buckets[(HashAddress(Key(i)) >> 32) & 63];
  }
  for (int count : buckets) {
    EXPECT_GT(count, 50);
    EXPECT_LT(count, 150);
  }
}

TEST(HashTest, OrderOfTheTwoMatters) {
  EXPECT_NE(HashTwo(Key(1), Key(2)), HashTwo(Key(2), Key(1)));
}

}  // namespace
}  // namespace pymemrun
