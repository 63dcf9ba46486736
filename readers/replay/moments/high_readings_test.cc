#include "readers/replay/moments/high_readings.h"

#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "text/units_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::ElementsAre;

using Tuple = std::tuple<uint64_t, uint64_t, uint64_t>;

std::vector<Tuple> Near(const HighReadings& readings, uint64_t peak_mib) {
  std::vector<Tuple> found;
  for (const RssStretch& one : readings.Near(peak_mib * kMiB)) {
    found.emplace_back(one.begin_us, one.end_us, one.bytes / kMiB);
  }
  return found;
}

TEST(HighReadingsTest, AStretchBeginsAfterTheLastLowerReading) {
  HighReadings readings;
  readings.AddRss(10, 5 * kMiB);
  readings.AddRss(20, 49 * kMiB);
  readings.AddRss(30, 50 * kMiB);
  readings.AddRss(40, 20 * kMiB);
  readings.AddRss(50, 50 * kMiB);
  EXPECT_THAT(Near(readings, 50),
              ElementsAre(Tuple{11, 31, 50}, Tuple{41, 51, 50}));
  const std::vector<RssStretch> near = readings.Near(50 * kMiB);
  EXPECT_EQ(near.front().rose_bytes, 45 * kMiB);
  EXPECT_EQ(near.back().rose_bytes, 30 * kMiB);
  EXPECT_THAT(Near(readings, 60), ElementsAre());
}

// VmHWM was last read at 20, RSS at 40.
TEST(HighReadingsTest, VmHwmTellsOfTheTimeSinceItWasRead) {
  HighReadings readings;
  readings.AddRss(10, 5 * kMiB);
  readings.AddRss(40, 5 * kMiB);
  readings.AddHwm(20, 50, 60 * kMiB, 10 * kMiB);
  readings.AddRss(60, 59 * kMiB);
  EXPECT_THAT(Near(readings, 60),
              ElementsAre(Tuple{20, 51, 60}, Tuple{51, 61, 59}));
  EXPECT_EQ(readings.Near(60 * kMiB).front().fell_bytes, 50 * kMiB);
  EXPECT_EQ(readings.Near(60 * kMiB).front().rose_bytes, 0u);  // unknown
  EXPECT_EQ(readings.Near(60 * kMiB).back().fell_bytes, 0u);
}

TEST(HighReadingsTest, ALateReadingHasItsPlace) {
  HighReadings readings;
  readings.AddRss(10, 50 * kMiB);
  readings.AddRss(30, 50 * kMiB);
  readings.AddRss(20, 5 * kMiB);
  EXPECT_THAT(Near(readings, 50),
              ElementsAre(Tuple{0, 11, 50}, Tuple{21, 31, 50}));
}

TEST(HighReadingsTest, OfManyReadingsTheStretchesStay) {
  HighReadings readings;
  uint64_t now_us = 0;
  const auto add = [&](int times, uint64_t mib) {
    for (int i = 0; i < times; ++i) readings.AddRss(++now_us, mib * kMiB);
  };
  add(50000, 30);  // high only until more was read
  add(50000, 10);
  add(50000, 90);
  add(50000, 20);
  add(50000, 90);
  EXPECT_THAT(Near(readings, 90), ElementsAre(Tuple{100001, 150001, 90},
                                              Tuple{200001, 250001, 90}));
}

}  // namespace
}  // namespace pymemrun
