#include "readers/replay/moments/most_alive.h"

#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "readers/replay/moments/reading_for_tests.h"
#include "readers/testing/mapping_events_for_tests.h"
#include "readers/testing/run_builder.h"
#include "text/units_for_tests.h"

namespace pymemrun {
namespace {

// 250 MiB; 200 are freed at 200 us, and at 500 us 40 come.
std::string Run() {
  StringSink sink;
  RunBuilder builder(&sink);
  BeginHeapRun(&builder);
  const uint32_t stack =
      builder.AddStack(0, builder.AddCode("/job.py", "<module>", 1), 7);
  builder.AddHeap({AllocEvent(10, 1 << 30, 200 * kMiB, stack),
                   AllocEvent(20, 2 << 28, 50 * kMiB, stack),
                   FreeEvent(200, 1 << 30),
                   AllocEvent(500, 3 << 28, 40 * kMiB, stack),
                   AllocEvent(600, 1 << 20, 1, stack)});
  builder.Flush();
  return sink.contents();
}

// The better one if RSS was high from 100 to 1000 us and rose by this much.
uint64_t BetterOf(uint64_t rose_bytes) {
  RssStretch rss = {100, 1000, 270 * kMiB};
  rss.rose_bytes = rose_bytes;
  MostAlive alive({rss}, ReplayVisitor::kEnd,
                  std::numeric_limits<double>::infinity());
  EXPECT_TRUE(ReadInto(Run(), &alive));
  return alive.Better().value_or(0);
}

TEST(MostAliveTest, WhatWasThereBeforeRssRoseIsNotThePeak) {
  EXPECT_EQ(BetterOf(0), 199u);
  EXPECT_GE(BetterOf(40 * kMiB), 500u);
  // No block tells how: then most is.
  EXPECT_EQ(BetterOf(120 * kMiB), 199u);
}

// A block of 50 MiB is freed while pages are scanned, at 300 us, and is still
// among them. Beside it C code has mapped 200 MiB, and touched this part.
uint64_t MomentWithMapped(uint64_t touched_pages) {
  StringSink sink;
  RunBuilder builder(&sink);
  Header header = RunBuilder::DefaultHeader();
  header.set_heap(HEAP_ALL);
  header.set_page_scan(true);
  builder.AddHeader(header);
  builder.AddThread("MainThread", 1);
  const uint32_t stack =
      builder.AddStack(0, builder.AddCode("/job.py", "<module>", 1), 7);
  const uint32_t none = builder.AddMapping("");
  builder.AddHeap({MapEvent(10, 1 << 30, 200 * kMiB, stack),
                   AllocEvent(20, 2 << 28, 50 * kMiB, stack),
                   FreeEvent(200, 2 << 28),
                   AllocEvent(600, 1 << 20, 1, stack)});
  builder.AddResidency(150, 300, 60 * kMiB,
                       {{(1 << 30) / 4096, touched_pages, none, false, false}});
  builder.Flush();
  MostAlive alive({{20, 301, 60 * kMiB}}, 300, 45 * kMiB);
  EXPECT_TRUE(ReadInto(sink.contents(), &alive));
  return alive.Better().value_or(300);
}

TEST(MostAliveTest, WhatIsMappedCountsWhereItIsResident) {
  EXPECT_EQ(MomentWithMapped(10), 199u);
  EXPECT_EQ(MomentWithMapped(50 * kMiB / 4096), 300u);
}

}  // namespace
}  // namespace pymemrun
