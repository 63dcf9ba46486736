#include "readers/task_steps/heap_times.h"

#include <gtest/gtest.h>

namespace pymemrun {
namespace {

HeapEvent Event(uint64_t time_us, bool is_free = false) {
  HeapEvent event;
  event.thread = 1;
  event.time_us = time_us;
  event.is_free = is_free;
  return event;
}

// Times in a file may fall by a little.
TEST(HeapTimesTest, TellsWhetherAThreadAllocatedMeanwhile) {
  HeapTimes times;
  const HeapEvent events[] = {Event(5000), Event(9000, true), Event(1000),
                              Event(uint64_t{1} << 50)};
  times.OnHeap(events, 4);
  times.Finish();
  EXPECT_TRUE(times.Any(1, 1000, 1000));
  EXPECT_TRUE(times.Any(1, 0, 2000));
  EXPECT_TRUE(times.Any(1, 1500, 5000));
  EXPECT_FALSE(times.Any(1, 1500, 4500));
  EXPECT_FALSE(times.Any(1, 6000, 20000));  // what is freed is nobody's
  EXPECT_TRUE(times.Any(1, 6000, ~uint64_t{0}));
  EXPECT_FALSE(times.Any(2, 0, ~uint64_t{0}));
}

}  // namespace
}  // namespace pymemrun
