// Peaks between two events: which are told, and between which events.
#include "tracer/gauge/peak_watch.h"

#include "gtest/gtest.h"

namespace pymemrun {
namespace {

constexpr uint64_t kPause = 100;

TEST(PeakWatchTest, APeakAboveAllEventsIsToldOnce) {
  PeakWatch watch;
  watch.Start(500, 500);
  EXPECT_FALSE(watch.inherited());
  EXPECT_FALSE(watch.Check(1000, 1000, true, 5, 0, kPause).rose);
  const PeakFinding found = watch.Check(1100, 1000, true, 9, 0, kPause);
  EXPECT_TRUE(found.rose);
  EXPECT_EQ(found.hwm_pages, 1100u);
  EXPECT_EQ(found.after_number, 8u);
  EXPECT_FALSE(watch.Check(1100, 1000, true, 10, 0, kPause).rose);
  EXPECT_TRUE(watch.Check(1200, 1000, true, 11, 0, kPause).rose);
}

TEST(PeakWatchTest, AFewPagesAreNoPeak) {
  PeakWatch watch;
  watch.Start(500, 500);
  EXPECT_FALSE(watch.Check(1016, 1000, true, 1, 0, kPause).rose);
  EXPECT_TRUE(watch.Check(1017, 1000, true, 2, 0, kPause).rose);
}

TEST(PeakWatchTest, WhereFaultsAreMissedItRoseSinceTheLastLook) {
  PeakWatch watch;
  watch.Start(500, 500);
  EXPECT_FALSE(watch.Check(1000, 1000, false, 5, 0, kPause).rose);
  EXPECT_EQ(watch.Check(1100, 1000, false, 9, 0, kPause).after_number, 5u);
}

TEST(PeakWatchTest, AnEarlierProgramsMaximumIsNotTaken) {
  PeakWatch watch;
  // Far above what this process can have: what exec has left.
  const uint64_t inherited = 1u << 30;
  watch.Start(inherited, 500);
  EXPECT_TRUE(watch.inherited());
  // VmHWM, read as text, is below what was seen; it is not read in the pause.
  EXPECT_FALSE(watch.Check(inherited, inherited, true, 1, 10, kPause).rose);
  EXPECT_FALSE(
      watch.Check(inherited, 0, true, 2, 10 + kPause - 1, kPause).rose);
  const PeakFinding found =
      watch.Check(inherited, 0, true, 3, 10 + kPause, kPause);
  EXPECT_TRUE(found.rose);
  EXPECT_LT(found.hwm_pages, inherited);
  EXPECT_EQ(found.after_number, 1u);
  // Once it is exceeded, it is this program's own.
  EXPECT_TRUE(watch.Check(inherited + 1, 0, true, 4, 0, kPause).rose);
  EXPECT_FALSE(watch.inherited());
}

}  // namespace
}  // namespace pymemrun
