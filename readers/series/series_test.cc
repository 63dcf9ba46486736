#include "readers/series/series.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace pymemrun {
namespace {

using ::testing::ElementsAre;

const PlaceValues kValues = {{1, 5}, {0, 0, 4}, {7}, {}, {3, 3, 3}};

std::deque<Place> Places() {
  return {NamedPlace("a"), NamedPlace("b"), NamedPlace("c"), NamedPlace("d"),
          NamedPlace("e")};
}

TEST(SeriesTest, TheLargestByPeakEndAndGrowth) {
  SeriesChoice choice = {.top = 2};
  EXPECT_THAT(LargestPlaces(kValues, Places(), choice, 3), ElementsAre(2, 0));
  choice.order = SeriesOrder::kEnd;
  EXPECT_THAT(LargestPlaces(kValues, Places(), choice, 3), ElementsAre(1, 4));
  choice = {.order = SeriesOrder::kGrowth};
  EXPECT_THAT(LargestPlaces(kValues, Places(), choice, 3),
              ElementsAre(1, 4, 0, 2));
  EXPECT_THAT(LargestPlaces(kValues, Places(), {.least = 5}, 3),
              ElementsAre(2, 0));
}

TEST(SeriesTest, EqualOnesAreInTheOrderOfPlaces) {
  const std::deque<Place> places = {NamedPlace("z"), NamedPlace("a")};
  EXPECT_THAT(LargestPlaces({{1}, {1}}, places, {}, 1), ElementsAre(1, 0));
}

TEST(SeriesTest, TheRestIsSummedUp) {
  Curves curves;
  curves.time_us = {0, 1000, 2000};
  curves.total = {NamedPlace("all"), "", "", false, {11, 8, -7}};
  curves.others.place = NamedPlace("others");
  AddSeries(kValues, Places(), {2, 0}, &curves);
  EXPECT_THAT(curves.chosen[0].values, ElementsAre(7, 0, 0));
  EXPECT_THAT(curves.chosen[1].values, ElementsAre(1, 5, 0));
  EXPECT_THAT(curves.others.values, ElementsAre(3, 3, 7));
  curves.chosen[1].errors = {0, 2, 0};
  const Table table = CurvesTable(curves);
  ASSERT_EQ(table.headings.size(), 6u);
  EXPECT_EQ(table.headings[2].name, "c");
  EXPECT_EQ(table.headings[2].title, "[1]");
  EXPECT_EQ(table.headings[5].name, "a error_bytes");
  EXPECT_THAT(table.rows[2], ElementsAre(Cell(0.002), Cell(int64_t{-7}),
                                         Cell(uint64_t{0}), Cell(uint64_t{0}),
                                         Cell(uint64_t{7}), Cell(uint64_t{0})));
}

TEST(EvenMomentsTest, AreEvenAndHaveThePeak) {
  const auto moments = EvenMoments(0, 4000, 1234);
  EXPECT_EQ(moments.size(), 402u);
  EXPECT_EQ(moments[1], 10u);
  EXPECT_THAT(moments, testing::Contains(1234));
  EXPECT_EQ(moments.back(), 4000u);
  EXPECT_THAT(EvenMoments(0, 0, 0), ElementsAre(0u));
  EXPECT_EQ(EvenMoments(0, UINT64_MAX, UINT64_MAX).back(), UINT64_MAX);
  EXPECT_EQ(EvenMoments(1000, 5000, 0).front(), 1000u);
}

TEST(ResampledTest, HasTheHighestOfEachPartOrTheLastOneBefore) {
  const std::vector<TimedValue> values = {{110, 7}, {111, 2}, {130, 3}};
  EXPECT_THAT(Resampled(values, 100, 140, 4, -1), ElementsAre(-1, 7, 2, 3));
  EXPECT_THAT(Resampled({}, 0, 10, 2, 5), ElementsAre(5, 5));
  EXPECT_TRUE(Resampled(values, 0, 10, 0, 5).empty());
  // What is beyond the end is of the last part.
  EXPECT_THAT(Resampled(values, 0, 0, 2, 0), ElementsAre(0, 7));
}

}  // namespace
}  // namespace pymemrun
