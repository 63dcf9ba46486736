#include "readers/replay/heap_in_rss/python_arenas.h"

#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/testing/heap_run_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kArena = 1 << 20, kPool = 1 << 14, kHeader = 48;
// Two arenas side by side: the kernel maps each below the one before.
constexpr uint64_t kUpper = 0x7f0000500000, kLower = kUpper - kArena;

using Ranges = std::vector<std::pair<uint64_t, uint64_t>>;

class PythonArenasTest : public testing::Test {
 protected:
  void Allocate(uint64_t address, uint64_t size = 64,
                HeapAllocator allocator = HEAP_OBJ) {
    HeapEvent event = AllocEvent(1, address, size, 1);
    event.allocator = allocator;
    arenas_.Take(event);
  }
  void Free(uint64_t address) { arenas_.Take(FreeEvent(1, address)); }
  Ranges Found() const {
    Ranges found;
    for (const PythonArenas::Arena& arena : arenas_.Found()) {
      found.emplace_back(arena.begin, arena.end);
    }
    return found;
  }

  PythonArenas arenas_;
};

TEST_F(PythonArenasTest, TheFirstBlockOfAPoolBeginsAnArena) {
  arenas_.SetPython("3.11.2 (main)");
  Allocate(kUpper + kHeader);
  Allocate(kUpper + kHeader + 64);
  Allocate(kUpper + 63 * kPool + kHeader, 512, HEAP_MEM);
  Allocate(kLower + kHeader, 16);
  EXPECT_THAT(Found(), ElementsAre(std::pair(kLower, kUpper),
                                   std::pair(kUpper, kUpper + kArena)));
}

TEST_F(PythonArenasTest, OtherBlocksBeginNone) {
  Allocate(kUpper + kHeader + 64);           // not the first of its pool
  Allocate(kUpper + kHeader, 513);           // malloc's
  Allocate(kUpper + kHeader, 0);             // malloc's
  Allocate(kUpper + kHeader, 64, HEAP_RAW);  // malloc's
  Allocate(kUpper + kHeader, 64, HEAP_MALLOC);
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(PythonArenasTest, AnArenaGoesWithItsLastBlock) {
  Allocate(kUpper + kHeader);
  Allocate(kUpper + kHeader + 64);
  Free(kUpper + kHeader);
  Allocate(kLower + kHeader);
  EXPECT_EQ(Found().size(), 2u);
  Free(kUpper + kHeader + 64);
  Free(0x1234);  // what is not known
  EXPECT_THAT(Found(), ElementsAre(std::pair(kLower, kUpper)));
  // What is mapped there then may begin elsewhere.
  Allocate(kUpper + kPool + kHeader);
  EXPECT_EQ(Found().back().first, kUpper + kPool);
}

TEST_F(PythonArenasTest, ABlockThatMovesWithinItKeepsItThere) {
  Allocate(kUpper + kHeader);
  Free(kUpper + kHeader);
  Allocate(kUpper + 2 * kPool + kHeader, 80);
  EXPECT_THAT(Found(), ElementsAre(std::pair(kUpper, kUpper + kArena)));
}

TEST_F(PythonArenasTest, Python39HasSmallerOnes) {
  arenas_.SetPython("3.9.18 (main)");
  Allocate(kUpper + 4096 + kHeader);
  EXPECT_THAT(Found(),
              ElementsAre(std::pair(kUpper + 4096, kUpper + 4096 + (1 << 18))));
}

// As with PYTHONMALLOC=malloc.
TEST_F(PythonArenasTest, WhereBlocksDoNotLieInPoolsThereIsNone) {
  Allocate(kUpper + kHeader);
  Allocate(kUpper + kHeader + 64);
  for (uint64_t i = 1; i < 10; ++i) Allocate(kUpper + i * 208);
  EXPECT_THAT(Found(), IsEmpty());
}

}  // namespace
}  // namespace pymemrun
