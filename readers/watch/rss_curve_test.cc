#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/watch/watch_model.h"

namespace pymemrun {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

TEST(RssCurveTest, HasTheHighestOfEachTime) {
  RssCurve curve;
  curve.Add(0, 100);
  curve.Add(10000, 300);
  curve.Add(11000, 200);
  curve.Add(39000, 50);
  EXPECT_THAT(curve.Values(40000, 4), ElementsAre(100, 300, 200, 50));
}

TEST(RssCurveTest, WithoutReadingsItIsFlat) {
  EXPECT_THAT(RssCurve().Values(1000, 3), Each(0));
}

TEST(RssCurveTest, ALongRunKeepsItsPeak) {
  RssCurve curve;
  for (uint64_t second = 0; second < 36000; ++second) {
    curve.Add(second * 1000000, second == 17500 ? 900 : 100);
  }
  const std::vector<double> values = curve.Values(36000000000, 36);
  EXPECT_THAT(values, ::testing::Contains(900).Times(1));
  EXPECT_EQ(values[17], 900);
}

TEST(RssCurveTest, AnyTimeIsTaken) {
  RssCurve curve;
  curve.Add(UINT64_MAX, 7);
  curve.Add(3, 5);
  EXPECT_THAT(curve.Values(UINT64_MAX, 2), ElementsAre(5, 7));
}

}  // namespace
}  // namespace pymemrun
