#include "readers/pictures/chart/treemap.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace pymemrun {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr TreemapArea kWhole = {10, 20, 900, 600};

// A hundred children of the whole. The first has thirty of its own.
Treemap Map() {
  Treemap map;
  map.groups = {{"containers", "#a0cbe8"}};
  Treemap::Box whole;
  whole.label = "all";
  map.boxes.push_back(whole);
  const auto add = [&map](uint32_t parent, double weight) {
    Treemap::Box box;
    box.label = "box <&>";
    box.detail = "1 MiB";
    box.parent = parent;
    box.weight = weight;
    map.boxes.push_back(box);
  };
  double sum = 0;
  for (int i = 0; i < 100; ++i) {
    const double weight = i == 0 ? 20000 : 100 + 3 * i;
    add(0, weight);
    sum += weight;
  }
  map.boxes[0].weight = sum + 5000;  // its own
  for (int i = 0; i < 30; ++i) add(1, 500 - i);
  return map;
}

double Size(const TreemapArea& area) { return area.width * area.height; }

TEST(Treemap, AreasAreAsLargeAsWeights) {
  const Treemap map = Map();
  const auto areas = LayOut(map, kWhole);
  ASSERT_EQ(areas.size(), map.boxes.size());
  for (const uint32_t parent : {0u, 1u}) {
    double unit = 0, sum = 0;
    for (size_t i = 1; i < areas.size(); ++i) {
      if (map.boxes[i].parent != parent) continue;
      ASSERT_GT(Size(areas[i]), 0) << i;
      if (unit == 0) unit = Size(areas[i]) / map.boxes[i].weight;
      EXPECT_NEAR(Size(areas[i]), unit * map.boxes[i].weight,
                  1e-6 * Size(areas[i]));
      sum += Size(areas[i]);
    }
    // All but the title and the edges is theirs and the parent's own.
    const double inside = map.boxes[parent].weight * unit;
    EXPECT_LT(inside, Size(areas[parent]));
    EXPECT_GT(inside, 0.85 * Size(areas[parent]));
    EXPECT_LT(sum, inside);
  }
}

TEST(Treemap, BoxesStandWithinTheirParentsAndApart) {
  const Treemap map = Map();
  const auto areas = LayOut(map, kWhole);
  constexpr double kSlack = 1e-6;
  for (size_t i = 1; i < areas.size(); ++i) {
    const TreemapArea& a = areas[i];
    const TreemapArea& parent = areas[map.boxes[i].parent];
    EXPECT_GE(a.x, parent.x);
    EXPECT_GE(a.y, parent.y);
    EXPECT_LE(a.x + a.width, parent.x + parent.width + kSlack);
    EXPECT_LE(a.y + a.height, parent.y + parent.height + kSlack);
    for (size_t j = i + 1; j < areas.size(); ++j) {
      const TreemapArea& b = areas[j];
      if (map.boxes[i].parent != map.boxes[j].parent) continue;
      EXPECT_TRUE(
          a.x + a.width <= b.x + kSlack || b.x + b.width <= a.x + kSlack ||
          a.y + a.height <= b.y + kSlack || b.y + b.height <= a.y + kSlack)
          << i << " and " << j;
    }
  }
}

TEST(Treemap, BoxesAreNearlySquare) {
  const Treemap map = Map();
  const auto areas = LayOut(map, kWhole);
  for (size_t i = 1; i < areas.size(); ++i) {
    EXPECT_LT(areas[i].width, 4 * areas[i].height);
    EXPECT_LT(areas[i].height, 4 * areas[i].width);
  }
}

TEST(Treemap, WhatIsTooSmallIsLeftOut) {
  Treemap map = Map();
  map.boxes[100].weight = 0.001;
  EXPECT_EQ(Size(LayOut(map, kWhole)[100]), 0);
  EXPECT_TRUE(LayOut(Treemap(), kWhole).empty());
}

TEST(Treemap, SizesStandBeforeNames) {
  Treemap map;
  map.title = "t";
  map.groups = {{"all", "#dcdcdc"}};
  map.boxes = {{"the whole of it", "90 MiB", "", 0, 0, 90},
               {"a list of a rather long name", "89 MiB", "", 0, 0, 89}};
  const auto drawn = [&map] {
    StringSink sink;
    OutputBuffer output(&sink);
    PrintTreemap(map, &output);
    EXPECT_TRUE(output.Flush().ok());
    return sink.contents();
  };
  const std::string wide = drawn();
  EXPECT_THAT(wide, HasSubstr(">90 MiB the whole of it</text>"));
  EXPECT_THAT(wide, HasSubstr(">89 MiB a list of a rather long name</text>"));
  // Ten beside each other have room for less: names come below.
  map.boxes.resize(1);
  for (int i = 0; i < 90; ++i) {
    map.boxes.push_back({"a list of a rather long name", "1 MiB", "", 0, 0, 1});
  }
  const std::string narrow = drawn();
  EXPECT_THAT(narrow, HasSubstr(">1 MiB</text><text "));
  EXPECT_THAT(narrow, HasSubstr(">a list of "));
  EXPECT_THAT(narrow, HasSubstr("..</text>"));
}

// Of a letter that is not ASCII, the bytes do not count.
TEST(Treemap, EntriesOfTheLegendAreAsFarApartAsTheirLettersNeed) {
  const auto second = [](const std::string& label) {
    Treemap map;
    map.groups = {{label, "#dcdcdc"}, {"b", "#abcdef"}};
    StringSink sink;
    OutputBuffer output(&sink);
    PrintTreemap(map, &output);
    EXPECT_TRUE(output.Flush().ok());
    const std::string& drawn = sink.contents();
    return drawn.substr(drawn.find("#abcdef") - 60, 60);
  };
  EXPECT_EQ(second("\xc3\xb6\xc3\xa4\xc3\xbc"), second("oau"));
  EXPECT_NE(second("oaue"), second("oau"));
}

TEST(Treemap, TextsAreHarmless) {
  Treemap map = Map();
  map.title = "a]]>\x1b[31m<script>";
  StringSink sink;
  OutputBuffer output(&sink);
  PrintTreemap(map, &output);
  ASSERT_TRUE(output.Flush().ok());
  EXPECT_THAT(sink.contents(), HasSubstr("box &lt;&amp;&gt;"));
  EXPECT_THAT(sink.contents(), Not(HasSubstr("<script>")));
  EXPECT_THAT(sink.contents(), Not(HasSubstr("\x1b")));
  EXPECT_THAT(sink.contents(), HasSubstr("</svg>\n"));
}

}  // namespace
}  // namespace pymemrun
