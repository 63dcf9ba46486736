#include "collector/process/clock_scale.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

namespace pymemrun {
namespace {

TEST(ClockScaleTest, NanosecondsAreTakenAsTheyAre) {
  ClockScale clock;
  clock.Start(false, {0, 5000}, {});
  EXPECT_EQ(clock.Micros(4000), 0u);
  EXPECT_EQ(clock.Micros(5999), 0u);
  EXPECT_EQ(clock.Micros(6000), 1u);
  EXPECT_EQ(clock.Micros(5000 + 3600ull * 1000000000), 3600000000u);
}

TEST(ClockScaleTest, StampAfterIsWhereTheMicrosecondMoves) {
  ClockScale clock;
  clock.Start(false, {0, 5000}, {});
  for (const uint64_t us : {0u, 1u, 999u, 123456789u}) {
    const uint64_t stamp = clock.StampAfter(us);
    EXPECT_GE(clock.Micros(stamp + 1), us + 1);
    EXPECT_LE(clock.Micros(stamp - 1), us);
  }
}

// Stamps come from the traced program, which may write anything.
TEST(ClockScaleTest, NoTimeIsLaterThanNow) {
  constexpr uint64_t kStart = 5000, kNow = kStart + 7000000;
  ClockScale clock([] { return kNow; });
  clock.Start(false, {0, kStart}, {});
  EXPECT_EQ(clock.Micros(kNow - 2000), 6998u);
  for (const uint64_t far :
       {kNow + 1000, uint64_t{1} << 62, (uint64_t{1} << 63) - 1}) {
    EXPECT_EQ(clock.Micros(far), 7000u) << far;
    EXPECT_EQ(clock.NanosAt(far), 7000000u) << far;
    EXPECT_EQ(clock.MicrosOfMonotonic(far), 7000u) << far;
    EXPECT_EQ(clock.NanosOfMonotonic(far), 7000000u) << far;
  }
  EXPECT_EQ(clock.MicrosOfMonotonic(UINT64_MAX), 7000u);
  EXPECT_EQ(clock.Micros(0), 0u);
}

TEST(ClockScaleTest, TheTscAgreesWithTheMonotonicClock) {
  const ClockScale::Pair start = ClockScale::Measure();
  if (start.tsc == 0) GTEST_SKIP() << "no TSC here";
  ClockScale clock;
  clock.Start(true, start, start);
  for (int i = 0; i < 10; ++i) {
    usleep(20000);
    const ClockScale::Pair now = ClockScale::Measure();
    const int64_t expected = (now.monotonic_ns - start.monotonic_ns) / 1000;
    const int64_t got = static_cast<int64_t>(clock.Micros(now.tsc));
    // Without and with a later measurement. Loose enough for a machine whose
    // processors are taken away from it between the two clocks.
    EXPECT_LT(std::abs(got - expected), 2000);
    clock.Recalibrate();
    EXPECT_LT(std::abs(static_cast<int64_t>(clock.Micros(now.tsc)) - expected),
              50);
  }
}

}  // namespace
}  // namespace pymemrun
