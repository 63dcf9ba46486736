#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "readers/replay/moments/most_alive.h"
#include "readers/testing/heap_run_for_tests.h"

namespace pymemrun {
namespace {

// Blocks at few addresses, one in four of them goes soon; and mappings.
std::vector<HeapEvent> RandomEvents(size_t count) {
  std::mt19937_64 random(5);
  std::vector<HeapEvent> events;
  std::set<uint64_t> live;
  while (events.size() < count) {
    const uint64_t number = events.size(), address = 16 * (random() % 300);
    if (!live.insert(address).second) {
      live.erase(address);
      events.push_back(FreeEvent(number, address));
      continue;
    }
    events.push_back(AllocEvent(number, address, random() % 5000, 1));
    if (number % 9 == 0) {
      events.push_back(AllocEvent(number, (1 + number) << 32, 4096, 1));
      events.back().allocator = HEAP_MMAP;
    }
    if (number % 4 != 0) continue;
    events.push_back(FreeEvent(number, address));
    live.erase(address);
  }
  return events;
}

TEST(HeapPairsTest, WhatIsAliveAfterwardsIsTheSame) {
  const std::vector<HeapEvent> events = RandomEvents(20000);
  HeapModel all, without;
  HeapPairs pairs;
  size_t left_out = 0;
  for (size_t i = 0; i < events.size(); i += 500) {
    const size_t count = std::min<size_t>(500, events.size() - i);
    all.Add(&events[i], count);
    const std::vector<HeapEvent>& left = pairs.LeaveOut(&events[i], count);
    without.Add(left.data(), left.size());
    left_out += count - left.size();
    ASSERT_EQ(without.live().bytes, all.live().bytes) << i;
    ASSERT_EQ(without.live().recorded, all.live().recorded) << i;
  }
  EXPECT_GT(without.live().bytes, 0);
  EXPECT_EQ(without.mappings().parts().size(), all.mappings().parts().size());
  EXPECT_GT(left_out, events.size() / 4);
}

TEST(HeapPairsTest, WhereAFreeIsMissingAllAreKept) {
  const std::vector<HeapEvent> events = {
      AllocEvent(1, 16, 100, 1), AllocEvent(2, 16, 200, 1), FreeEvent(3, 16),
      FreeEvent(4, 32), AllocEvent(5, 32, 100, 1)};
  HeapPairs pairs;
  EXPECT_EQ(pairs.LeaveOut(events.data(), events.size()).size(), 5u);
  // A free is of no block of an earlier call.
  EXPECT_EQ(pairs.LeaveOut(&events[0], 1).size(), 1u);
  EXPECT_EQ(pairs.LeaveOut(&events[2], 1).size(), 1u);
}

}  // namespace
}  // namespace pymemrun
