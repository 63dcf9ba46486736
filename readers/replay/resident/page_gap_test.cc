#include "readers/replay/resident/page_gap.h"

#include <map>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/replay/resident/resident_model.h"

namespace pymemrun {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class FaultsUnderWayTest : public testing::Test {
 protected:
  void Add(PageAction action, uint64_t page, uint64_t pages, uint32_t stack) {
    model_.Add(
        PageEntry{now_us_, page, pages, 0, 1, stack, 0, 1, action, false});
  }
  void See(const std::vector<ResidentRange>& ranges) {
    model_.Add(ResidencyView{now_us_, now_us_ + 5, 0, ranges});
    now_us_ += 10;
  }
  // {first page: stack} of each run.
  std::map<uint64_t, uint32_t> Owners() const {
    std::map<uint64_t, uint32_t> owners;
    model_.pages().ForEach([&](const PageMap::Run& run) {
      owners[run.begin] = model_.owners()[run.owner].stack;
    });
    return owners;
  }

  uint64_t now_us_ = 100;
  ResidentModel model_;
};

TEST_F(FaultsUnderWayTest, WhatTheKernelIsAboutToBringComesBack) {
  See({});
  Add(PAGE_CAME, 10, 1, 1);
  Add(PAGES_POPULATED, 512, 512, 2);
  Add(PAGE_CAME, 20, 1, 3);
  Add(PAGE_CAME, 30, 1, 4);
  now_us_ += 10;
  See({});
  EXPECT_THAT(Owners(), IsEmpty());
  Add(PAGES_UNMAPPED, 20, 1, 1);
  Add(PAGE_CAME, 30, 1, 5);
  now_us_ += 10;
  See({{10, 1, 7, false, false},
       {20, 1, 7, false, false},
       {30, 1, 7, false, false},
       {600, 100, 7, false, false}});
  // 20 went in that time; 30 was touched by another stack.
  EXPECT_THAT(Owners(), ElementsAre(Pair(10, 1), Pair(30, 5), Pair(600, 2)));
}

TEST_F(FaultsUnderWayTest, WhatIsMissedTwiceHasGone) {
  See({});
  Add(PAGE_CAME, 10, 1, 1);
  now_us_ += 10;
  See({});
  See({});
  See({{10, 1, 7, false, false}});
  EXPECT_THAT(Owners(), IsEmpty());
}

}  // namespace
}  // namespace pymemrun
