#include "readers/replay/resident/page_map.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace pymemrun {
namespace {

constexpr uint64_t kSpace = 3000;

// The same, page by page.
class PlainMap {
 public:
  struct Page {
    uint32_t owner = 0;
    uint64_t came_us = 0;
    bool aged = false;
  };

  std::map<uint64_t, Page> pages;

  // Removes those that `test` says; what each owner lost.
  template <typename Test>
  std::map<uint32_t, uint64_t> Remove(uint64_t begin, uint64_t end, Test test) {
    std::map<uint32_t, uint64_t> lost;
    for (auto at = pages.lower_bound(begin);
         at != pages.end() && at->first < end;) {
      if (!test(at->second)) {
        ++at;
        continue;
      }
      ++lost[at->second.owner];
      at = pages.erase(at);
    }
    return lost;
  }
  std::map<uint32_t, uint64_t> Move(uint64_t begin, uint64_t end, uint64_t to,
                                    uint64_t came_us) {
    std::map<uint64_t, Page> moved;
    for (const auto& [page, value] : pages) {
      if (page < begin || page >= end) continue;
      moved[page - begin + to] = {value.owner, came_us, false};
    }
    Remove(begin, end, [](const Page&) { return true; });
    auto lost = Remove(to, to + end - begin, [](const Page&) { return true; });
    pages.insert(moved.begin(), moved.end());
    return lost;
  }
  void Age(uint64_t before_us, uint64_t mark_us) {
    for (auto& [page, value] : pages) {
      if (value.aged || value.came_us >= before_us) continue;
      value.aged = true;
      value.came_us = value.came_us > mark_us ? mark_us + 1 : 0;
    }
  }
};

class PageMapTest : public testing::Test {
 protected:
  std::map<uint32_t, uint64_t> Lost() { return std::exchange(lost_, {}); }
  void TakeAway(const PageMap::Run& run) { lost_[run.owner] += run.pages(); }
  auto Visit() {
    return [this](const PageMap::Run& run) { TakeAway(run); };
  }
  uint64_t Random(uint64_t below) { return random_() % below; }

  void PutSomething() {
    const uint64_t page = Random(kSpace);
    const auto owner = static_cast<uint32_t>(1 + Random(3));
    if (Random(2) == 0) {
      ASSERT_TRUE(map_.Put({page, page + 1, now_us_, owner}));
      plain_.pages[page] = {owner, now_us_, false};
      return;
    }
    const uint64_t end = page + 1 + Random(50);
    for (const PageMap::Range& gap : map_.Gaps(page, end, SIZE_MAX)) {
      ASSERT_TRUE(map_.Put({gap.begin, gap.end, now_us_, owner}));
    }
    for (uint64_t at = page; at < end; ++at) {
      plain_.pages.try_emplace(at, PlainMap::Page{owner, now_us_, false});
    }
  }
  void TakeSomething() {
    const uint64_t begin = Random(kSpace), end = begin + 1 + Random(60);
    const uint64_t to = Random(kSpace);
    const uint64_t before_us = now_us_ - std::min(now_us_, Random(400));
    switch (Random(4)) {
      case 0:
        map_.Remove(begin, end, Visit());
        EXPECT_EQ(Lost(),
                  plain_.Remove(begin, end, [](const auto&) { return true; }));
        break;
      case 1:
        map_.RemoveOlder(begin, end, before_us, Visit());
        EXPECT_EQ(Lost(), plain_.Remove(begin, end, [&](const auto& page) {
          return page.came_us < before_us;
        }));
        break;
      case 2:
        map_.Age(before_us, 100);
        plain_.Age(before_us, 100);
        break;
      default:
        map_.Move(begin, end, to, now_us_, Visit());
        EXPECT_EQ(Lost(), plain_.Move(begin, end, to, now_us_));
    }
  }
  void ExpectTheSame() {
    std::map<uint64_t, std::pair<uint32_t, uint64_t>> found, expected;
    size_t runs = 0;
    map_.ForEach([&](const PageMap::Run& run) {
      ++runs;
      EXPECT_LT(run.begin, run.end);
      for (uint64_t page = run.begin; page < run.end; ++page) {
        EXPECT_TRUE(found.try_emplace(page, run.owner, run.came_us).second);
      }
    });
    for (const auto& [page, value] : plain_.pages) {
      expected[page] = {value.owner, value.came_us};
    }
    EXPECT_EQ(found, expected);
    EXPECT_EQ(map_.runs(), runs);
  }
  void ExpectTheSameAnswers() {
    const uint64_t begin = Random(kSpace), end = begin + 1 + Random(200);
    uint64_t covered = 0;
    std::vector<std::pair<uint64_t, uint64_t>> gaps;
    for (uint64_t page = begin; page < end; ++page) {
      if (plain_.pages.count(page) != 0) {
        ++covered;
      } else if (!gaps.empty() && gaps.back().second == page) {
        ++gaps.back().second;
      } else {
        gaps.emplace_back(page, page + 1);
      }
    }
    EXPECT_EQ(map_.Covered(begin, end), covered);
    const size_t most = 1 + Random(5);
    const auto found = map_.Gaps(begin, end, most);
    ASSERT_EQ(found.size(), std::min(most, gaps.size()));
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].begin, gaps[i].first);
      EXPECT_EQ(found[i].end, gaps[i].second);
    }
    const auto at = plain_.pages.find(begin);
    EXPECT_EQ(map_.At(begin).owner,
              at == plain_.pages.end() ? 0 : at->second.owner);
    const auto above = plain_.pages.lower_bound(begin);
    if (above != plain_.pages.end()) {
      EXPECT_EQ(std::max(map_.After(begin).begin, begin), above->first);
    } else {
      EXPECT_EQ(map_.After(begin).owner, 0u);
    }
    if (above != plain_.pages.begin()) {
      EXPECT_EQ(std::min(map_.Before(begin).end, begin),
                std::prev(above)->first + 1);
    } else {
      EXPECT_EQ(map_.Before(begin).owner, 0u);
    }
  }

  std::mt19937_64 random_{7};
  PageMap map_;
  PlainMap plain_;
  uint64_t now_us_ = 1;
  std::map<uint32_t, uint64_t> lost_;
};

TEST_F(PageMapTest, IsAsAMapOfPages) {
  for (int i = 0; i < 6000; ++i) {
    now_us_ += Random(3);
    if (Random(4) == 0) {
      TakeSomething();
    } else {
      PutSomething();
    }
    if (i % 10 == 0) ExpectTheSameAnswers();
    if (i % 100 == 0) ExpectTheSame();
  }
  ExpectTheSame();
}

TEST_F(PageMapTest, WhatHasAgedBecomesOneRun) {
  for (uint64_t page = 0; page < 1000; ++page) {
    map_.Put({page, page + 1, 10 + page, 1});
  }
  EXPECT_EQ(map_.runs(), 1000u);
  map_.Age(510, 0);
  EXPECT_LT(map_.runs(), 500u + 500 / 32 + 2);  // one for each node
  map_.Age(5000, 909);
  EXPECT_EQ(map_.At(0).came_us, 0u);
  EXPECT_EQ(map_.At(999).came_us, 910u);
  // What comes there later keeps its own time.
  map_.Put({5, 6, 6000, 1});
  EXPECT_EQ(map_.At(5).came_us, 6000u);
  EXPECT_EQ(map_.At(6).begin, 6u);
  map_.RemoveOlder(0, 1000, 5999, Visit());
  EXPECT_EQ(Lost(), (std::map<uint32_t, uint64_t>{{1, 999}}));
  EXPECT_EQ(map_.runs(), 1u);
}

// What moves comes at one time; as it is no more asked for, it is one run.
TEST_F(PageMapTest, WhatWasMovedBecomesOneRunAsItAges) {
  for (uint64_t page = 0; page < 1000; ++page) {
    map_.Put({page, page + 1, 10 + page, 1});
  }
  map_.Move(0, 1000, 5000, 2000, Visit());
  EXPECT_EQ(map_.runs(), 1000u);
  map_.Age(3000, 1500);
  EXPECT_LT(map_.runs(), 1000u / 32 + 2);
  EXPECT_EQ(map_.At(5000).came_us, 1501u);
  map_.Move(5000, 6000, 0, 4000, Visit());
  map_.RemoveOlder(0, 1000, 4000, Visit());
  EXPECT_EQ(map_.Covered(0, 1000), 1000u);
}

TEST_F(PageMapTest, WhatHasNotAgedIsFoundAmongTheOthers) {
  for (uint64_t page = 0; page < 1000; ++page) {
    map_.Put({2 * page, 2 * page + 1, page, 1});
  }
  map_.Age(990, 0);
  std::vector<uint64_t> found;
  const auto visit = [&found](const PageMap::Run& run) {
    found.push_back(run.begin);
    return found.size() < 3;
  };
  map_.ForEachNew(0, 1970, visit);
  EXPECT_THAT(found, testing::IsEmpty());
  map_.ForEachNew(1983, 1986, visit);
  EXPECT_THAT(found, testing::ElementsAre(1984));
  map_.ForEachNew(0, UINT64_MAX, visit);
  EXPECT_THAT(found, testing::ElementsAre(1984, 1980, 1982));
}

TEST_F(PageMapTest, SampledPagesGetOtherOwnersOnce) {
  for (uint64_t page = 0; page < 100; ++page) {
    map_.Put({page, page + 1, page, 2, page % 10 == 0});
  }
  int asked = 0;
  const auto replace = [&asked](const PageMap::Run&) {
    ++asked;
    return 3u;
  };
  map_.ReplaceSampled(0, 50, replace);
  map_.ReplaceSampled(0, 50, replace);
  EXPECT_EQ(asked, 5);
  EXPECT_EQ(map_.At(40).owner, 3u);
  EXPECT_EQ(map_.At(50).owner, 2u);
}

TEST_F(PageMapTest, TakesNoMoreRunsThanThereIsRoomFor) {
  PageMap map(4);
  EXPECT_TRUE(map.Put({0, 100, 1, 1}));
  EXPECT_TRUE(map.Put({50, 51, 1, 2}));
  EXPECT_FALSE(map.Put({70, 71, 1, 2}));
  EXPECT_EQ(map.runs(), 3u);
}

// Each of these took a time for all pages, or all runs, each time.
TEST_F(PageMapTest, WhatChangesNothingInARunTakesNoTimeForIt) {
  constexpr uint64_t kRuns = 100000, kTimes = 100000;
  for (uint64_t i = 0; i < kRuns; ++i) {
    map_.Put({2 * i, 2 * i + 1, 5, static_cast<uint32_t>(1 + i % 2)});
  }
  const auto begin = std::clock();
  for (uint64_t i = 0; i < kTimes; ++i) {
    const uint64_t from = i % 2 == 0 ? 0 : 1 << 20;
    map_.Move(from, from + 2 * kRuns, (1 << 20) - from, 5, Visit());
    map_.RemoveOlder(0, 1 << 22, 5, Visit());
    map_.Age(6, 0);
    EXPECT_EQ(map_.Covered(0, 1 << 22), kRuns);
  }
  EXPECT_EQ(map_.runs(), kRuns);
  // It is some 0.2 s; looking at each run, 10^10 of them, is a minute and more.
  EXPECT_LT(std::clock() - begin, 20 * CLOCKS_PER_SEC);
}

// A tree that becomes a list takes the square of a heap's size, and the cube
// where each page looks for its place in it. Cut in any order it stays a tree:
// its steps are counted.
class CutTree {
 public:
  explicit CutTree(uint64_t runs) {
    for (uint64_t i = 0; i < runs; i += PageRunTree::kNodeRuns) {
      std::vector<PageRun> side_by_side;
      for (uint64_t at = i; at < std::min(runs, i + PageRunTree::kNodeRuns);
           ++at) {
        side_by_side.push_back({2 * at, 2 * at + 1, 1, 1});
      }
      root_ = PageRunTree::Merge(root_, tree_.NewNode(side_by_side));
    }
  }
  // A node ends, and another one begins, at this run.
  void CutAt(uint64_t run) {
    const PageRunTree::Halves halves = tree_.Split(root_, 2 * run);
    root_ = PageRunTree::Merge(halves.left, halves.right);
  }
  size_t nodes() const { return Visit(root_, 1).nodes; }
  size_t depth() const { return Visit(root_, 1).depth; }
  size_t runs() const { return tree_.runs(); }

 private:
  struct Size {
    size_t nodes = 0, depth = 0;
  };
  static Size Visit(const PageRunTree::Node* node, size_t depth) {
    if (node == nullptr) return {};
    const Size left = Visit(node->left, depth + 1);
    const Size right = Visit(node->right, depth + 1);
    return {left.nodes + right.nodes + 1,
            std::max({depth, left.depth, right.depth})};
  }

  PageRunTree tree_;
  PageRunTree::Node* root_ = nullptr;
};

TEST(PageRunTreeTest, StaysATreeInWhateverOrderItGrows) {
  std::mt19937_64 random(5);
  using Order = std::vector<uint64_t>;
  const auto alternate = [](Order* order) {
    Order ends;
    for (size_t i = 0; i < order->size() / 2; ++i) {
      ends.push_back((*order)[i]);
      ends.push_back((*order)[order->size() - 1 - i]);
    }
    order->swap(ends);
  };
  const std::vector<std::function<void(Order*)>> patterns = {
      [](Order*) {},
      [](Order* order) { std::reverse(order->begin(), order->end()); },
      [&](Order* order) { std::shuffle(order->begin(), order->end(), random); },
      alternate,
      [&](Order* order) {  // from the middle outwards
        alternate(order);
        std::reverse(order->begin(), order->end());
      }};
  for (const auto& pattern : patterns) {
    for (const uint64_t runs : {1000, 8000, 64000}) {
      Order order(runs);
      std::iota(order.begin(), order.end(), 0);
      pattern(&order);
      CutTree tree(runs);
      for (const uint64_t run : order) tree.CutAt(run);
      EXPECT_EQ(tree.nodes(), runs);
      EXPECT_EQ(tree.runs(), runs);
      // Three times its logarithm, mostly. As a list it would be all nodes.
      EXPECT_LT(tree.depth(), 8 * std::log2(runs));
    }
  }
}

}  // namespace
}  // namespace pymemrun
