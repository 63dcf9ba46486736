#include "collector/process/pss_meter.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "text/units_for_tests.h"

namespace pymemrun {
namespace {

TEST(PssMeterTest, TheTextHasItInKilobytes) {
  const ProportionalSet set = ProportionalSetIn(
      "00400000-7ffd9000 ---p 00000000 00:00 0 [rollup]\n"
      "Rss:                 2048 kB\n"
      "Pss:                 1029 kB\n"
      "Pss_Dirty:             77 kB\n");
  EXPECT_EQ(set.pss_bytes, 1029u * 1024);
  EXPECT_EQ(set.rss_bytes, 2048u * 1024);
  for (const char* text :
       {"", "Pss: 7 kB", "\nPss:", "\nPss: x kB", "\nRss: 1 kB"}) {
    EXPECT_EQ(ProportionalSetIn(text).pss_bytes, 0u) << text;
  }
}

TEST(PssMeterTest, ASizeIsToldWhenItIsTimeAndItHasMoved) {
  PssMeter meter(getpid());
  const uint64_t first = meter.ReadMoved(kSecond).pss_bytes;
  EXPECT_GT(first, 64u << 10);
  EXPECT_EQ(meter.ReadMoved(kSecond + 1).pss_bytes, 0u);  // too soon
  constexpr size_t kBytes = 8 << 20;
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  memset(memory, 1, kBytes);
  EXPECT_EQ(meter.ReadMoved(kSecond + 2).pss_bytes, 0u);
  const ProportionalSet second = meter.ReadMoved(1000 * kSecond);
  EXPECT_GE(second.pss_bytes, first + kBytes - (1 << 20));
  EXPECT_GE(second.rss_bytes, second.pss_bytes);
  EXPECT_EQ(meter.ReadMoved(2000 * kSecond).pss_bytes, 0u);  // it has not moved
  munmap(memory, kBytes);
}

TEST(PssMeterTest, OfNobodyNothingIsTold) {
  PssMeter meter(1 << 30);
  EXPECT_EQ(meter.ReadMoved(kSecond).pss_bytes, 0u);
}

}  // namespace
}  // namespace pymemrun
