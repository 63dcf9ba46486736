#include "readers/replay/resident/resident_model.h"

#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "text/units_for_tests.h"

namespace pymemrun {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

// Stacks stand for who brought a page; 0 is before tracing.
class ResidentModelTest : public testing::Test {
 protected:
  PageEntry Entry(PageAction action, uint64_t page, uint64_t pages,
                  uint32_t stack = 1, uint64_t moved_to = 0) {
    return {now_us_, page, pages, moved_to, 1, stack, 0, 1, action, false};
  }
  void Came(uint64_t page, uint32_t stack) {
    model_.Add(Entry(PAGE_CAME, page, 1, stack));
  }
  void See(const std::vector<ResidentRange>& ranges, uint64_t rss_bytes = 0) {
    model_.Add(ResidencyView{now_us_, now_us_ + 5, rss_bytes, ranges});
    if (rss_bytes != 0) model_.SetRss(rss_bytes, now_us_ + 5);
    now_us_ += 10;
  }
  // {page: who}; below 0: inferred.
  std::map<uint64_t, int> Owners() const {
    std::map<uint64_t, int> owners;
    model_.pages().ForEach([&](const PageMap::Run& run) {
      const PageOwner& owner = model_.owners()[run.owner];
      const int stack = static_cast<int>(owner.stack);
      for (uint64_t page = run.begin; page < run.end; ++page) {
        owners[page] = owner.inferred ? -stack : stack;
      }
    });
    return owners;
  }
  uint64_t PagesOfStack(uint32_t stack) const {
    uint64_t pages = 0;
    for (uint32_t id = 1; id < model_.owners().size(); ++id) {
      if (model_.owners()[id].stack == stack) pages += model_.PagesOf(id);
    }
    return pages;
  }

  uint64_t now_us_ = 100;
  ResidentModel model_;
};

TEST_F(ResidentModelTest, WhoTouchedAPageOwnsIt) {
  Came(10, 1);
  Came(11, 2);
  EXPECT_THAT(Owners(), ElementsAre(Pair(10, 1), Pair(11, 2)));
  EXPECT_EQ(model_.OwnedBytes(), 2 * kPage);
  EXPECT_EQ(model_.RssBytes(), 2 * kPage);
  EXPECT_EQ(model_.UnattributedBytes(), 0);
}

TEST_F(ResidentModelTest, APageThatComesAgainIsTaken) {
  Came(10, 1);
  Came(10, 2);
  EXPECT_THAT(Owners(), ElementsAre(Pair(10, 2)));
  EXPECT_EQ(model_.OwnedBytes(), kPage);
}

// As where the kernel moves memory while a thread reads it.
TEST_F(ResidentModelTest, AFaultOnAPageThatWasFoundChangesNothing) {
  See({});
  Came(10, 1);
  Came(11, 1);
  now_us_ += 10;
  See({{10, 2, 7, false, false}});
  Came(10, 2);
  EXPECT_THAT(Owners(), ElementsAre(Pair(10, 1), Pair(11, 1)));
  model_.Add(Entry(PAGES_UNMAPPED, 10, 1));
  Came(10, 2);
  EXPECT_THAT(Owners(), ElementsAre(Pair(10, 2), Pair(11, 1)));
}

TEST_F(ResidentModelTest, ACopyAfterAForkStaysWhoseItWas) {
  Came(10, 1);
  model_.AddFork(now_us_ += 10);
  now_us_ += 10;
  Came(10, 2);
  EXPECT_THAT(Owners(), ElementsAre(Pair(10, 1)));
  now_us_ += 10;
  Came(10, 3);  // it was copied before: this time it had gone
  Came(11, 3);
  EXPECT_THAT(Owners(), ElementsAre(Pair(10, 3), Pair(11, 3)));
}

TEST_F(ResidentModelTest, PagesLeave) {
  for (uint64_t page = 0; page < 40; ++page) Came(page, 1);
  model_.Add(Entry(PAGES_UNMAPPED, 0, 10));
  model_.Add(Entry(PAGES_DISCARDED, 15, 5));
  model_.Add(Entry(PAGES_TRIMMED, 21, 1000));
  EXPECT_THAT(Owners(), ElementsAre(Pair(10, 1), Pair(11, 1), Pair(12, 1),
                                    Pair(13, 1), Pair(14, 1), Pair(20, 1)));
  EXPECT_EQ(model_.OwnedBytes(), 6 * kPage);
}

TEST_F(ResidentModelTest, MovedPagesKeepTheirOwners) {
  Came(10, 1);
  Came(12, 2);
  Came(22, 3);  // put away by what moves there
  model_.Add(Entry(PAGES_MOVED, 10, 4, 9, 20));
  EXPECT_THAT(Owners(), ElementsAre(Pair(20, 1), Pair(22, 2)));
  EXPECT_EQ(model_.OwnedBytes(), 2 * kPage);
}

TEST_F(ResidentModelTest, PagesMayMoveOntoThemselves) {
  Came(10, 1);
  Came(11, 2);
  model_.Add(Entry(PAGES_MOVED, 10, 2, 9, 11));
  EXPECT_THAT(Owners(), ElementsAre(Pair(11, 1), Pair(12, 2)));
}

TEST_F(ResidentModelTest, APopulatedRangeIsItsCallersWhereNothingIs) {
  Came(11, 1);
  model_.Add(Entry(PAGES_POPULATED, 10, 4, 2));
  EXPECT_THAT(Owners(),
              ElementsAre(Pair(10, 2), Pair(11, 1), Pair(12, 2), Pair(13, 2)));
}

TEST_F(ResidentModelTest, WhatIsThereAtFirstWasThereBeforeTracing) {
  Came(11, 1);
  See({{10, 3, 7, false, false}});
  EXPECT_THAT(Owners(), ElementsAre(Pair(10, 0), Pair(11, 1), Pair(12, 0)));
  EXPECT_EQ(model_.owners()[model_.pages().At(10).owner].mapping, 7u);
  EXPECT_THAT(model_.Unowned(), IsEmpty());
}

TEST_F(ResidentModelTest, PagesThatAreNotSeenHaveGone) {
  See({});
  Came(10, 1);
  Came(11, 1);
  now_us_ += 10;
  See({{11, 1, 7, false, false}});
  EXPECT_THAT(Owners(), ElementsAre(Pair(11, 1)));
}

TEST_F(ResidentModelTest, PagesThatCameMeanwhileStay) {
  See({});
  Came(10, 1);
  now_us_ += 10;
  Came(12, 2);  // at the moment when the kernel began to be asked
  See({});
  EXPECT_THAT(Owners(), ElementsAre(Pair(12, 2)));
}

TEST_F(ResidentModelTest, LaterPagesOfNobodyHaveNoOwner) {
  See({});
  See({{10, 3, 7, false, false}, {20, 2, 8, false, false}}, 100 * kPage);
  EXPECT_THAT(Owners(), IsEmpty());
  EXPECT_THAT(model_.Unowned(), UnorderedElementsAre(Pair(7, 3), Pair(8, 2)));
  EXPECT_EQ(model_.UnattributedBytes(), int64_t{100 * kPage});
}

TEST_F(ResidentModelTest, AHugePageIsWhoseNearestPageItIs) {
  See({});
  Came(512 + 100, 1);
  Came(512 + 201, 2);
  now_us_ += 10;
  See({{512, 1024, 7, false, true}});
  const auto owners = Owners();
  EXPECT_EQ(owners.size(), 512u);
  EXPECT_EQ(owners.at(512), -1);
  EXPECT_EQ(owners.at(512 + 100), 1);
  EXPECT_EQ(owners.at(512 + 150), -1);
  EXPECT_EQ(owners.at(512 + 151), -2);
  EXPECT_EQ(owners.at(1023), -2);
  EXPECT_THAT(model_.Unowned(), ElementsAre(Pair(7, 512)));
}

TEST_F(ResidentModelTest, PagesOfAFileComeAroundAFault) {
  See({});
  Came(2, 1);
  Came(20, 2);
  now_us_ += 10;
  See({{0, 32, 7, true, false}});
  const auto owners = Owners();
  EXPECT_EQ(owners.size(), 32u);
  EXPECT_EQ(owners.at(0), -1);
  EXPECT_EQ(owners.at(2), 1);
  EXPECT_EQ(owners.at(15), -1);  // though 20 is nearer
  EXPECT_EQ(owners.at(16), -2);
  EXPECT_EQ(owners.at(31), -2);
}

TEST_F(ResidentModelTest, PagesOfAFileMayComeInAPieceOf2MiB) {
  See({});
  Came(18, 1);
  Came(512 + 50, 2);
  now_us_ += 10;
  // A hole, and beyond it what no fault of the piece has brought.
  See({{10, 600, 7, true, false}, {640, 20, 7, true, false}});
  const auto owners = Owners();
  EXPECT_EQ(owners.at(10), -1);
  EXPECT_EQ(owners.at(511), -1);
  EXPECT_EQ(owners.at(512), -2);
  EXPECT_EQ(owners.at(609), -2);
  EXPECT_TRUE(model_.Unowned().empty());
}

TEST_F(ResidentModelTest, AnonymousPagesAreNotInferred) {
  See({});
  Came(18, 1);
  now_us_ += 10;
  See({{16, 16, 7, false, false}});
  EXPECT_THAT(Owners(), ElementsAre(Pair(18, 1)));
}

TEST_F(ResidentModelTest, ASampledPageStandsForSoMany) {
  See({{1, 1, 7, false, false}});
  PageEntry entry = Entry(PAGE_CAME, 16, 1, 1);
  entry.weight = 8;
  model_.Add(entry);
  now_us_ += 10;
  See({{1, 1, 7, false, false}, {16, 16, 7, true, false}}, 17 * kPage);
  EXPECT_EQ(PagesOfStack(1), 8u);
  EXPECT_EQ(model_.OwnedBytes(), 9 * kPage);
  EXPECT_EQ(model_.UnattributedBytes(), int64_t{8 * kPage});
  model_.Add(Entry(PAGES_UNMAPPED, 16, 1));
  EXPECT_EQ(model_.OwnedBytes(), kPage);
}

TEST_F(ResidentModelTest, AHugePagesPagesStandForThemselvesAlsoWhereSampled) {
  See({{1, 1, 7, false, false}});
  PageEntry entry = Entry(PAGE_CAME, 700, 1, 2);
  entry.weight = 8;
  model_.Add(entry);
  Came(512, 1);
  EXPECT_EQ(PagesOfStack(2), 8u);
  now_us_ += 10;
  See({{1, 1, 7, false, false}, {512, 512, 7, false, true}}, 513 * kPage);
  EXPECT_EQ(PagesOfStack(1) + PagesOfStack(2), 512u);
  EXPECT_EQ(model_.UnattributedBytes(), 0);
}

TEST_F(ResidentModelTest, WhereAChosenPageComesThereIsNoHugePage) {
  PageEntry entry = Entry(PAGE_CAME, 512, 1, 1);
  entry.weight = 8;
  model_.Add(Entry(PAGES_POPULATED, 512, 512, 1));
  model_.Add(Entry(PAGES_POPULATED, 1024, 512, 1));
  for (entry.page = 515; entry.page < 1024; entry.page += 8) model_.Add(entry);
  EXPECT_EQ(PagesOfStack(1), 1024u);
}

TEST_F(ResidentModelTest, WhatACallBringsIsSampledToo) {
  Header header;
  header.set_page_weight(8);
  model_.SetHeader(header);
  EXPECT_TRUE(model_.sampled());
  PageEntry entry = Entry(PAGES_POPULATED, 16, 2, 1);
  entry.weight = 8;
  model_.Add(entry);
  model_.Add(Entry(PAGES_POPULATED, 17, 2, 2));  // the first is there already
  EXPECT_EQ(PagesOfStack(1), 16u);
  EXPECT_EQ(PagesOfStack(2), 1u);
}

TEST_F(ResidentModelTest, UnattributedIsSigned) {
  See({});
  Came(10, 1);
  Came(11, 1);
  model_.SetRss(kPage, now_us_);
  EXPECT_EQ(model_.UnattributedBytes(), -static_cast<int64_t>(kPage));
}

TEST_F(ResidentModelTest, RssGoesOnFromTheLastReading) {
  model_.SetRss(10 * kPage, 1);
  Came(10, 1);
  EXPECT_EQ(model_.RssBytes(), 11 * kPage);
  model_.Add(Entry(PAGES_UNMAPPED, 10, 1));
  EXPECT_EQ(model_.RssBytes(), 10 * kPage);
}

// RSS was read while the kernel was filling a huge page.
TEST_F(ResidentModelTest, AHugePageIsInRssOnceItIsFilled) {
  See({{100, 1000, 1, true, false}}, 1000 * kPage);
  Came(512 * 10, 1);
  model_.Add(Entry(PAGES_POPULATED, 512 * 10, 512));
  model_.SetRss(1000 * kPage, now_us_ + 300);
  EXPECT_EQ(model_.RssBytes(), 1512 * kPage);
  EXPECT_EQ(model_.UnattributedBytes(), 0);
  // Long after it RSS is right.
  model_.SetRss(1000 * kPage, now_us_ + 300000);
  EXPECT_EQ(model_.RssBytes(), 1000 * kPage);
}

TEST_F(ResidentModelTest, AnAnswerOfTheKernelsChangesNoRssThatWasRead) {
  See({});
  Came(10, 1);
  Came(11, 1);
  Came(512, 1);
  now_us_ += 10;
  model_.SetRss(600 * kPage, now_us_);
  See({{11, 1, 7, false, false}, {512, 512, 7, false, true}});
  EXPECT_EQ(model_.RssBytes(), 600 * kPage);
  EXPECT_EQ(model_.UnattributedBytes(), 87 * int64_t{kPage});
}

TEST_F(ResidentModelTest, WhatCameSinceRssWasReadIsAsTheKernelAnswers) {
  See({}, 10 * kPage);
  Came(10, 1);
  Came(11, 1);
  now_us_ += 10;
  See({{11, 1, 7, false, false}});
  EXPECT_EQ(model_.RssBytes(), 11 * kPage);
  Came(512, 1);
  now_us_ += 10;
  See({{11, 1, 7, false, false}, {512, 512, 7, false, true}});
  EXPECT_EQ(model_.RssBytes(), 523 * kPage);
  EXPECT_EQ(model_.UnattributedBytes(), int64_t{10 * kPage});
}

TEST_F(ResidentModelTest, RssIsNeverAboveTheHighestThatWasRead) {
  model_.SetMostRss(11 * kPage);
  model_.SetRss(10 * kPage, 1);
  Came(10, 1);
  Came(11, 1);
  EXPECT_EQ(model_.RssBytes(), 11 * kPage);
}

TEST_F(ResidentModelTest, BeforeTheFirstAnswerTheRestWasThereBefore) {
  model_.SetRss(10 * kPage, 1);
  Came(10, 1);
  EXPECT_EQ(model_.UnlistedBeforeBytes(), 10 * kPage);
  EXPECT_EQ(model_.UnattributedBytes(), 0);
  See({});
  EXPECT_EQ(model_.UnlistedBeforeBytes(), 0u);
  EXPECT_EQ(model_.UnattributedBytes(), int64_t{10 * kPage});
}

TEST_F(ResidentModelTest, WhatCameMeanwhileHasAnOwner) {
  See({});
  now_us_ -= 5;
  const uint64_t begin_us = now_us_;
  See({{10, 3, 7, false, false}});
  now_us_ = begin_us + 1;
  Came(11, 1);
  EXPECT_THAT(model_.Unowned(), ElementsAre(Pair(7, 2)));
}

TEST_F(ResidentModelTest, HostileWeightsAndPageSizesStayBounded) {
  Header header;
  header.set_page_bytes(UINT32_MAX);
  model_.SetHeader(header);
  EXPECT_EQ(model_.page_bytes(), kPage);
  PageEntry entry = Entry(PAGE_CAME, 1, 1);
  entry.weight = UINT32_MAX;
  model_.Add(entry);
  EXPECT_EQ(model_.OwnedBytes(), kPage << 20);
}

TEST_F(ResidentModelTest, HostileRangesTakeNoMoreThanThereIsRoomFor) {
  ResidentModel model({.runs = 4, .owners = 2});
  const uint64_t most = uint64_t{1} << 44;
  model.Add(Entry(PAGES_POPULATED, 0, most + 1));
  EXPECT_EQ(model.OwnedBytes(), 0u);
  EXPECT_EQ(model.not_kept(), most + 1);
  model.Add(Entry(PAGES_POPULATED, 0, most));
  EXPECT_EQ(model.OwnedBytes(), most * kPage);
  model.Add(Entry(PAGE_CAME, most, 1, 2));
  EXPECT_EQ(model.not_kept(), most + 2);
  model.Add(Entry(PAGES_MOVED, 0, most, 1, most / 2));
  EXPECT_EQ(model.OwnedBytes(), most * kPage);
  model.Add(Entry(PAGES_UNMAPPED, most - 1, 1));
  model.Add(Entry(PAGE_CAME, most - 1, 1, 3));  // one owner too many
  EXPECT_EQ(model.not_kept(), most + 3);
  model.Add(Entry(PAGE_CAME, 0, 1, 2));
  model.Add(Entry(PAGE_CAME, 2, 1, 2));  // one run too many
  EXPECT_EQ(model.not_kept(), most + 4);
  model.Add(Entry(PAGES_UNMAPPED, 0, kMaxPage));
  EXPECT_EQ(model.OwnedBytes(), 0u);
}

TEST_F(ResidentModelTest, HostileResidenciesTakeNoMoreThanThereIsRoomFor) {
  ResidentModel model({.runs = 3, .owners = 2});
  const std::vector<ResidentRange> ranges = {
      {0, uint64_t{1} << 33, 1, false, true},
      {uint64_t{1} << 40, uint64_t{1} << 33, 1, true, false}};
  model.Add(ResidencyView{0, 0, 0, ranges});
  EXPECT_EQ(model.OwnedBytes(), (uint64_t{1} << 34) * kPage);
  model.Add(ResidencyView{1, 1, 0, ranges});
  EXPECT_TRUE(model.Unowned().empty());
}

}  // namespace
}  // namespace pymemrun
