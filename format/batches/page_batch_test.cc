#include "format/batches/page_batch.h"

#include <limits>
#include <string>
#include <vector>

#include "format/batches/page_run_for_tests.h"
#include "format/records/record_decoder.h"
#include "format/stream/record_span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace pymemrun {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr auto kMax = std::numeric_limits<uint64_t>::max();

class PageKeeper : public CheckingVisitor {
 public:
  bool OnPages(const PageEntry* entries, size_t count) override {
    CheckingVisitor::OnPages(entries, count);
    pages.insert(pages.end(), entries, entries + count);
    return !stop;
  }
  void OnResidency(const ResidencyView& seen) override {
    CheckingVisitor::OnResidency(seen);
    ranges.assign(seen.ranges.begin(), seen.ranges.end());
  }
  bool stop = false;
  std::vector<PageEntry> pages;
  std::vector<ResidentRange> ranges;
};

// A decoder that has seen Definitions() and two mappings, and two records to
// spoil.
class PageBatchTest : public testing::Test {
 protected:
  void SetUp() override {
    std::vector<Record> records = Definitions();
    records.push_back(MappingRecord(1, "/bin/python3"));
    records.push_back(MappingRecord(2, ""));
    for (const Record& record : records) ASSERT_TRUE(Decode(record).ok());
    SetUpRecords();
  }
  void SetUpRecords() {
    pages_ = PagesRecord(PageRunEntries());
    batch_ = pages_.mutable_pages();
    resident_ = ResidencyRecord(
        5, 9, 4096, {{10, 2, 1, true, false}, {12, 1, 2, false, true}});
    residency_ = resident_.mutable_residency();
  }
  absl::Status Decode(const Record& record) {
    return decoder_.Decode(record.SerializeAsString());
  }
  std::string Fault(const Record& record) {
    const absl::Status status = Decode(record);
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
    EXPECT_THAT(visitor_.pages, IsEmpty());
    EXPECT_THAT(visitor_.ranges, IsEmpty());
    return std::string(status.message());
  }

  PageKeeper visitor_;
  RecordDecoder decoder_{&visitor_};
  Record pages_, resident_;
  PageBatch* batch_;
  Residency* residency_;
};

TEST_F(PageBatchTest, GivesTheEntriesOfABatch) {
  ASSERT_TRUE(Decode(pages_).ok());
  EXPECT_EQ(visitor_.pages, PageRunEntries());
  EXPECT_EQ(decoder_.result().page_entries, 6u);
}

TEST_F(PageBatchTest, ABatchWithoutEntriesGivesNone) {
  batch_->Clear();
  EXPECT_TRUE(Decode(pages_).ok());
  EXPECT_THAT(visitor_.pages, IsEmpty());
}

TEST_F(PageBatchTest, ManyEntriesComeInSeveralCalls) {
  std::vector<PageEntry> many;
  for (uint64_t i = 0; i < 10000; ++i) {
    many.push_back(PlainEntry(10 + i / 3, (i * 7919) % 5000));
    if (i % 3 == 0) many.back().stack = 0;
    many.back().weight = 4;
    many.back().mapping = i / 100 % 3;
    if (i % 7 == 0) {
      many.back() = ActionEntry(10 + i / 3, PAGES_DISCARDED, i, i);
    } else if (i % 11 == 0) {  // recorded in any case
      many.back().weight = 1;
    }
  }
  ASSERT_TRUE(Decode(PagesRecord(many)).ok());
  EXPECT_EQ(visitor_.pages, many);
}

TEST_F(PageBatchTest, TheVisitorMayStop) {
  visitor_.stop = true;
  ASSERT_TRUE(Decode(pages_).ok());
  EXPECT_TRUE(decoder_.result().stopped);
}

TEST_F(PageBatchTest, AWeightThatIsNotStatedIsOne) {
  batch_->clear_weight();
  ASSERT_TRUE(Decode(pages_).ok());
  EXPECT_EQ(visitor_.pages[0].weight, 1u);
}

TEST_F(PageBatchTest, EntryZeroStatesThreadStackAndCode) {
  batch_->clear_thread_at();
  batch_->clear_thread();
  EXPECT_THAT(Fault(pages_), HasSubstr("pages.thread_at: expected row 0"));
  SetUpRecords();
  batch_->set_stack_at(0, 1);
  EXPECT_EQ(Fault(pages_), "pages.stack_at: expected row 0 first, found 1");
  SetUpRecords();
  batch_->set_code_at(0, 1);
  EXPECT_EQ(Fault(pages_), "pages.code_at: expected row 0 first, found 1");
}

TEST_F(PageBatchTest, ParallelColumnsAreOfOneLength) {
  batch_->add_thread(1);
  EXPECT_EQ(Fault(pages_), "pages.thread: expected 1 entries, found 2");
  batch_->mutable_thread()->RemoveLast();
  batch_->add_time_step(1);
  EXPECT_EQ(Fault(pages_), "pages.time_step: expected 3 entries, found 4");
  batch_->mutable_time_step()->RemoveLast();
  batch_->mutable_action_pages()->RemoveLast();
  EXPECT_EQ(Fault(pages_), "pages.action_pages: expected 3 entries, found 2");
  batch_->add_action_pages(1);
  batch_->add_moved_to(1);
  EXPECT_EQ(Fault(pages_), "pages.moved_to: expected 3 entries, found 4");
}

TEST_F(PageBatchTest, PagesStayBelowTheirLimit) {
  batch_->set_page_step(0, -1);
  EXPECT_THAT(Fault(pages_), HasSubstr("pages.page_step: expected a page"));
  batch_->set_page_step(0, std::numeric_limits<int64_t>::max());
  EXPECT_THAT(Fault(pages_), HasSubstr("expected a page below 2^45"));
  batch_->set_page_step(0, int64_t{1} << 45);  // an address of 57 bits
  EXPECT_THAT(Fault(pages_), HasSubstr("expected a page below 2^45"));
}

TEST_F(PageBatchTest, RangesDoNotOverflow) {
  batch_->set_action_pages(1, kMax);
  EXPECT_THAT(Fault(pages_), HasSubstr("pages.action_pages: expected a range"));
  batch_->set_action_pages(1, 1);
  batch_->set_moved_to(0, kMaxPage - 1);
  EXPECT_THAT(Fault(pages_), HasSubstr("pages.moved_to: expected a range"));
}

TEST_F(PageBatchTest, TimesDoNotOverflow) {
  batch_->set_first_us(kMax);
  EXPECT_EQ(Fault(pages_),
            "pages.time_step: expected a sum of 64 bits, found 500");
}

TEST_F(PageBatchTest, ActionsAreKnownAndNotThatAPageCame) {
  batch_->set_action(0, static_cast<PageAction>(9));
  EXPECT_EQ(Fault(pages_), "pages.action: expected 1 to 5, found 9");
  batch_->set_action(0, PAGE_CAME);
  EXPECT_EQ(Fault(pages_), "pages.action: expected 1 to 5, found 0");
}

TEST_F(PageBatchTest, IdsAreDefined) {
  batch_->set_code(0, 3);
  EXPECT_EQ(Fault(pages_), "pages.code: expected an id of at most 2, found 3");
  batch_->set_code(0, 1);
  batch_->set_stack(0, 9);
  EXPECT_EQ(Fault(pages_), "pages.stack: expected an id of at most 1, found 9");
  batch_->set_stack(0, 0);
  batch_->set_thread(0, 0);
  EXPECT_EQ(Fault(pages_), "pages.thread: expected an id, found 0");
  residency_->set_mapping(0, 3);
  EXPECT_EQ(Fault(resident_),
            "residency.mapping: expected an id of at most 2, found 3");
}

TEST_F(PageBatchTest, DefinitionsThatDamageTookAreMadeUp) {
  decoder_.NoteDamage();
  batch_->set_code(0, 4);
  residency_->set_mapping(1, 5);
  EXPECT_TRUE(Decode(pages_).ok());
  EXPECT_TRUE(Decode(resident_).ok());
  EXPECT_EQ(decoder_.result().placeholders, 3u);
  EXPECT_THAT(visitor_.lines(), testing::Contains("mapping5"));
}

TEST_F(PageBatchTest, GivesTheRangesOfAResidency) {
  ASSERT_TRUE(Decode(resident_).ok());
  const std::vector<ResidentRange> expected = {{10, 2, 1, true, false},
                                               {12, 1, 2, false, true}};
  EXPECT_EQ(visitor_.ranges, expected);
}

TEST_F(PageBatchTest, RangesOfAResidencyAreSound) {
  residency_->set_pages(0, 0);
  EXPECT_THAT(Fault(resident_), HasSubstr("residency.pages: expected 1 page"));
  residency_->set_pages(0, uint64_t{1} << 35);
  EXPECT_THAT(Fault(resident_), HasSubstr("2^34 in all"));
  residency_->set_pages(0, kMax);
  EXPECT_THAT(Fault(resident_), HasSubstr("residency.pages: expected a range"));
  residency_->set_pages(0, 1);
  residency_->set_gap_pages(1, kMax);
  EXPECT_THAT(Fault(resident_), HasSubstr("residency.gap_pages: expected"));
  residency_->add_gap_pages(1);
  EXPECT_EQ(Fault(resident_),
            "residency.gap_pages: expected 2 entries, found 3");
}

TEST_F(PageBatchTest, AResidencyHasSoundFields) {
  residency_->set_begin_us(10);
  EXPECT_EQ(Fault(resident_),
            "residency.begin_us: expected at most 9, found 10");
  residency_->set_begin_us(9);
  residency_->set_rss_bytes(kMax);
  EXPECT_THAT(Fault(resident_), HasSubstr("residency.rss_bytes: expected"));
  residency_->set_rss_bytes(1);
  residency_->set_mapping_at(0, 1);
  EXPECT_THAT(Fault(resident_), HasSubstr("residency.mapping_at: expected"));
  residency_->set_mapping_at(0, 0);
  residency_->add_flags(1);
  EXPECT_EQ(Fault(resident_), "residency.flags: expected 2 entries, found 3");
}

TEST_F(PageBatchTest, ASpoiledBatchIsNoLostDefinition) {
  batch_->add_thread(1);
  Fault(pages_);
  residency_->set_mapping(0, 3);
  EXPECT_THAT(Fault(resident_), HasSubstr("an id of at most 2"));
}

TEST(PageSpans, HaveTheirTimes) {
  const Record pages = PagesRecord(PageRunEntries());
  FrameSpan span = SpanOfRecord(pages.SerializeAsString());
  EXPECT_EQ(span.first_us, 2000u);
  EXPECT_EQ(span.last_us, 2700u);
  EXPECT_FALSE(span.needed || span.has_rows());
  span = SpanOfRecord(ResidencyRecord(5, 9, 0, {}).SerializeAsString());
  EXPECT_EQ(span.first_us, 5u);
  EXPECT_EQ(span.last_us, 9u);
  EXPECT_FALSE(span.needed);
  EXPECT_TRUE(SpanOfRecord(MappingRecord(1, "").SerializeAsString()).needed);
  EXPECT_TRUE(HoldsRowsOnly(pages.SerializeAsString()));
  EXPECT_FALSE(HoldsRowsOnly(MappingRecord(1, "").SerializeAsString()));
}

TEST(PageRun, IsReadWhole) {
  const std::string file = Joined(PageRunFrames());
  StringSource source(file);
  CheckingVisitor visitor;
  ReadResult result;
  ASSERT_TRUE(ReadStream(&source, {}, &visitor, &result).ok());
  EXPECT_EQ(result.damages + result.unknown_records, 0u);
  EXPECT_EQ(result.page_entries, 6u);
  EXPECT_THAT(visitor.lines(), testing::Contains("fork 3000"));
  EXPECT_THAT(visitor.lines(), testing::Contains("page loss 5"));
}

}  // namespace
}  // namespace pymemrun
