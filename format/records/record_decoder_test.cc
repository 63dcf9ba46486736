#include "format/records/record_decoder.h"

#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "format/stream/stream_for_tests.h"
#include "format/stream/stream_writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace pymemrun {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A decoder that has seen Definitions(), and a batch of three rows to spoil.
class RecordDecoderTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const Record& record : Definitions()) {
      ASSERT_TRUE(Decode(record).ok());
    }
    record_ = RowsRecord(PlainRows(0, 3));
    batch_ = record_.mutable_events();
  }
  absl::Status Decode(const Record& record) {
    return decoder_.Decode(record.SerializeAsString());
  }
  // What is wrong with record_; no row may have been given.
  std::string Fault() {
    const absl::Status status = Decode(record_);
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
    EXPECT_THAT(visitor_.rows(), IsEmpty());
    return std::string(status.message());
  }

  // A decoder that has seen no damage yet.
  void SetUpFresh() {
    fresh_.emplace(&quiet_);
    ASSERT_TRUE(fresh_->Decode(HeaderRecord().SerializeAsString()).ok());
  }

  RecordVisitor quiet_;
  std::optional<RecordDecoder> fresh_;
  CheckingVisitor visitor_;
  RecordDecoder decoder_{&visitor_};
  Record record_;
  EventBatch* batch_;
};

TEST_F(RecordDecoderTest, GivesTheRowsOfABatch) {
  ASSERT_TRUE(Decode(record_).ok());
  EXPECT_EQ(visitor_.rows(), PlainRows(0, 3));
  EXPECT_EQ(decoder_.result().rows, 3u);
  EXPECT_EQ(decoder_.result().records, 9u);
}

TEST_F(RecordDecoderTest, ABatchWithoutRowsGivesNone) {
  batch_->Clear();
  ASSERT_TRUE(Decode(record_).ok());
  EXPECT_THAT(visitor_.rows(), IsEmpty());
  batch_->add_context_at(0);
  EXPECT_EQ(Fault(), "events.context_at: expected a row below 0, found 0");
}

TEST_F(RecordDecoderTest, StacksAreNoDeeperThanTheRecordersAre) {
  Record record;
  StackDef* const stack = record.mutable_stack();
  for (uint32_t id = 2; id <= kMaxStackNodes; ++id) {
    stack->set_id(id);
    stack->set_parent(id - 1);
    ASSERT_TRUE(Decode(record).ok()) << id;
  }
  stack->set_id(kMaxStackNodes + 1);
  stack->set_parent(kMaxStackNodes);
  record_ = record;
  EXPECT_EQ(Fault(), "stack.parent: expected at most 4097 frames, found more");
  // Another one below the same caller is as deep as that.
  stack->set_parent(kMaxStackNodes - 1);
  EXPECT_TRUE(Decode(record).ok());
  // After damage a placeholder stands in for what is missing: not a deep one.
  stack->set_id(kMaxStackNodes + 3);
  stack->set_parent(kMaxStackNodes + 2);
  EXPECT_TRUE(Decode(record).ok());
  EXPECT_EQ(decoder_.result().placeholders, 1u);
}

TEST_F(RecordDecoderTest, DistancesLieWithinTheBatch) {
  batch_->add_inexact_at(1);
  batch_->add_inexact_at(2);
  EXPECT_EQ(Fault(), "events.inexact_at: expected a row below 3, found 3");
  batch_->clear_inexact_at();
  batch_->add_rss_at(std::numeric_limits<uint32_t>::max());
  EXPECT_THAT(Fault(), HasSubstr("events.rss_at: expected a row below 3"));
}

TEST_F(RecordDecoderTest, DistancesAfterTheFirstAreAboveZero) {
  batch_->add_context_at(1);
  batch_->add_context_at(0);
  EXPECT_EQ(Fault(), "events.context_at: expected a distance above 0, found 0");
}

TEST_F(RecordDecoderTest, RowZeroStatesNoNumberAndNoTime) {
  batch_->add_number_at(0);
  batch_->add_number_skip(1);
  EXPECT_EQ(Fault(), "events.number_at: expected row 1 or later, found 0");
  batch_->clear_number_at();
  batch_->clear_number_skip();
  batch_->set_time_at(0, 0);
  EXPECT_EQ(Fault(), "events.time_at: expected row 1 or later, found 0");
}

TEST_F(RecordDecoderTest, ParallelColumnsAreOfOneLength) {
  batch_->add_number_skip(1);
  EXPECT_EQ(Fault(), "events.number_skip: expected 0 entries, found 1");
  batch_->clear_number_skip();
  batch_->add_time_step(1);
  EXPECT_EQ(Fault(), "events.time_step: expected 2 entries, found 3");
  batch_->mutable_time_step()->RemoveLast();
  batch_->add_thread(1);
  EXPECT_EQ(Fault(), "events.thread: expected 0 entries, found 1");
  batch_->clear_thread();
  batch_->add_rss_step(1);
  EXPECT_EQ(Fault(), "events.rss_step: expected 0 entries, found 1");
  batch_->clear_rss_step();
  batch_->add_drss(1);
  EXPECT_EQ(Fault(), "events.drss: expected 0 entries, found 1");
  batch_->clear_drss();
  batch_->add_stack(1);
  EXPECT_EQ(Fault(), "events.stack: expected 3 entries, found 1");
}

TEST_F(RecordDecoderTest, NumbersRiseAcrossBatches) {
  ASSERT_TRUE(Decode(record_).ok());
  EXPECT_EQ(Decode(record_).message(),
            "events.first_number: expected 3 or more, found 0");
  EXPECT_TRUE(Decode(RowsRecord(PlainRows(3, 1))).ok());
}

TEST_F(RecordDecoderTest, SumsStayWithin64Bits) {
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  batch_->set_first_number(kMax - 1);
  EXPECT_THAT(Fault(), HasSubstr("events.first_number: expected numbers of"));
  batch_->set_first_number(1);
  batch_->add_number_at(1);
  batch_->add_number_skip(kMax);
  EXPECT_THAT(Fault(), HasSubstr("events.number_skip: expected a sum of 64"));
  batch_->clear_number_at();
  batch_->clear_number_skip();
  batch_->set_time_step(1, kMax);
  EXPECT_THAT(Fault(), HasSubstr("events.time_step: expected a sum of 64"));
}

TEST_F(RecordDecoderTest, RssIsNeverBelowZeroNorAbsurd) {
  batch_->add_rss_at(0);
  batch_->add_rss_step(-(1 << 20) - 1);
  batch_->add_drss(0);
  EXPECT_THAT(Fault(), HasSubstr("events.rss_step: expected a size"));
  batch_->set_rss_step(0, std::numeric_limits<int64_t>::max());
  EXPECT_THAT(Fault(), HasSubstr("events.rss_step: expected a size"));
  batch_->set_first_rss_bytes(std::numeric_limits<uint64_t>::max());
  EXPECT_THAT(Fault(), HasSubstr("events.first_rss_bytes: expected a size"));
}

// A RETURN with a call, at the last of three rows: number 2, at 7 us.
class RecordDecoderCallTest : public RecordDecoderTest {
 protected:
  void SetUp() override {
    RecordDecoderTest::SetUp();
    Record site;
    site.mutable_site()->set_id(3);
    site.mutable_site()->set_what(RETURN);
    site.mutable_site()->set_code(1);
    ASSERT_TRUE(Decode(site).ok());
    rows_ = PlainRows(0, 3);
    rows_[1].rss_bytes += 4096;
    rows_[1].drss_bytes = 4096;
    Row& last = rows_[2];
    last = {2, 7, 1 << 20, -4096, 3, 1, 0, RETURN, false, true, 2, 7, -4096};
    record_ = RowsRecord(rows_);
    batch_ = record_.mutable_events();
  }

  std::vector<Row> rows_;
};

TEST_F(RecordDecoderCallTest, AReturnHasItsCall) {
  ASSERT_TRUE(Decode(record_).ok());
  EXPECT_EQ(visitor_.rows(), rows_);
}

TEST_F(RecordDecoderCallTest, OtherRowsHaveNone) {
  batch_->set_call_at(0, 1);
  batch_->set_call_events(0, 1);
  batch_->set_call_us(0, 1);
  ASSERT_TRUE(Decode(record_).ok());
  EXPECT_EQ(visitor_.rows()[1].call_events, 0u);
  EXPECT_EQ(visitor_.rows()[1].call_drss, 0);
  EXPECT_EQ(visitor_.rows()[2].call_events, 0u);
}

TEST_F(RecordDecoderCallTest, ColumnsOfCallsAreParallel) {
  batch_->add_call_events(1);
  EXPECT_EQ(Fault(), "events.call_events: expected 1 entries, found 2");
  batch_->mutable_call_events()->RemoveLast();
  batch_->clear_call_us();
  EXPECT_EQ(Fault(), "events.call_us: expected 1 entries, found 0");
  batch_->add_call_us(1);
  batch_->add_call_drss(1);
  EXPECT_EQ(Fault(), "events.call_drss: expected 1 entries, found 2");
  batch_->mutable_call_drss()->RemoveLast();
  batch_->set_call_at(0, 3);
  EXPECT_EQ(Fault(), "events.call_at: expected a row below 3, found 3");
}

TEST_F(RecordDecoderCallTest, ACallBeganBetweenTheRunsBeginAndItsReturn) {
  batch_->set_call_events(0, 3);
  EXPECT_EQ(Fault(), "events.call_events: expected 1 to 2, found 3");
  batch_->set_call_events(0, 0);
  EXPECT_EQ(Fault(), "events.call_events: expected 1 to 2, found 0");
  batch_->set_call_events(0, 2);
  batch_->set_call_us(0, 8);
  EXPECT_EQ(Fault(), "events.call_us: expected at most 7, found 8");
}

TEST_F(RecordDecoderCallTest, RssAtTheCallWasASize) {
  batch_->set_call_drss(0, (1 << 20) + 1);
  EXPECT_THAT(Fault(), HasSubstr("events.call_drss: expected a change from"));
  batch_->set_call_drss(0, std::numeric_limits<int64_t>::min());
  EXPECT_THAT(Fault(), HasSubstr("events.call_drss: expected a change from"));
  batch_->set_call_drss(0, 1 << 20);
  EXPECT_TRUE(Decode(record_).ok());
}

TEST_F(RecordDecoderTest, IdsAreDefined) {
  batch_->set_site(1, 3);
  EXPECT_EQ(Fault(), "events.site: expected an id of at most 2, found 3");
}

TEST_F(RecordDecoderTest, IdsOfSitesAndThreadsAreNotZero) {
  batch_->set_site(1, 0);
  EXPECT_EQ(Fault(), "events.site: expected an id, found 0");
  batch_->set_site(1, 1);
  batch_->set_first_thread(0);
  EXPECT_EQ(Fault(), "events.first_thread: expected an id, found 0");
  batch_->set_first_thread(1);
  batch_->add_thread_at(1);
  batch_->add_thread(0);
  EXPECT_EQ(Fault(), "events.thread: expected an id, found 0");
}

TEST_F(RecordDecoderTest, UndefinedThreadsAndStacksAreDamage) {
  batch_->set_first_thread(2);
  EXPECT_EQ(Fault(), "events.thread: expected an id of at most 1, found 2");
}

TEST_F(RecordDecoderTest, UndefinedStacksAreDamage) {
  for (int i = 0; i < 3; ++i) batch_->add_stack(2);
  EXPECT_EQ(Fault(), "events.stack: expected an id of at most 1, found 2");
}

TEST_F(RecordDecoderTest, DuplicateOrSkippedDefinitionsAreDamage) {
  EXPECT_EQ(Decode(Definitions()[1]).message(), "code.id: expected 3, found 1");
  EXPECT_EQ(Decode(HeaderRecord()).message(), SecondRunError().message());
}

TEST(RecordDecoder, SkippedIdsAreDamageUntilDamageWasSeen) {
  Record thread;
  thread.mutable_thread()->set_id(3);
  CheckingVisitor visitor;
  RecordDecoder decoder(&visitor);
  ASSERT_TRUE(decoder.Decode(HeaderRecord().SerializeAsString()).ok());
  EXPECT_EQ(decoder.Decode(thread.SerializeAsString()).message(),
            "thread.id: expected an id of at most 0, found 2");
  // That was damage: definitions may be missing from now on.
  EXPECT_TRUE(decoder.Decode(thread.SerializeAsString()).ok());
  EXPECT_THAT(visitor.lines(),
              ElementsAre("header 42", "thread1", "thread2", "thread3"));
  EXPECT_EQ(decoder.result().placeholders, 2u);
}

TEST(RecordDecoder, PlaceholdersAreBounded) {
  CheckingVisitor visitor(false);
  RecordDecoder decoder(&visitor);
  decoder.NoteDamage();
  Record record;
  record.mutable_stack()->set_id(kMaxPlaceholders + 2);
  EXPECT_TRUE(absl::IsDataLoss(decoder.Decode(record.SerializeAsString())));
  record.mutable_stack()->set_id(kMaxPlaceholders + 1);
  EXPECT_TRUE(decoder.Decode(record.SerializeAsString()).ok());
  record.mutable_stack()->set_id(kMaxPlaceholders + 3);
  EXPECT_TRUE(absl::IsDataLoss(decoder.Decode(record.SerializeAsString())));
}

TEST(RecordDecoder, AfterDamageRowsKeepTheirPlacesAsPlaceholders) {
  CheckingVisitor visitor;
  RecordDecoder decoder(&visitor);
  decoder.NoteDamage();
  ASSERT_TRUE(
      decoder.Decode(RowsRecord(PlainRows(7, 1)).SerializeAsString()).ok());
  EXPECT_THAT(visitor.lines(), ElementsAre("site1", "thread1", "row 7"));
}

TEST_F(RecordDecoderTest, SitesReferToWhatIsDefined) {
  Record record;
  SiteDef* site = record.mutable_site();
  site->set_id(3);
  site->set_code(9);
  EXPECT_EQ(Decode(record).message(),
            "site.code: expected an id of at most 2, found 9");
  site->set_code(1);
  site->set_what(static_cast<What>(7));
  EXPECT_EQ(Decode(record).message(), "site.what: expected at most 4, found 7");
}

TEST_F(RecordDecoderTest, OtherRecordsReferToWhatIsDefined) {
  Record mark, gap, footer;
  mark.mutable_mark()->set_thread(2);
  gap.mutable_profiler_gap()->set_thread(2);
  footer.mutable_footer()->set_max_rss_site(3);
  EXPECT_EQ(Decode(mark).message(),
            "mark.thread: expected an id of at most 1, found 2");
  SetUpFresh();
  EXPECT_THAT(fresh_->Decode(gap.SerializeAsString()).message(),
              HasSubstr("profiler_gap.thread: expected"));
  SetUpFresh();
  EXPECT_THAT(fresh_->Decode(footer.SerializeAsString()).message(),
              HasSubstr("footer.max_rss_site: expected"));
}

TEST_F(RecordDecoderTest, StackParentsComeFirst) {
  Record record;
  record.mutable_stack()->set_id(2);
  record.mutable_stack()->set_parent(2);
  EXPECT_EQ(Decode(record).message(),
            "stack.parent: expected an id below 2, found 2");
}

TEST_F(RecordDecoderTest, UnknownKindsAreCountedAndSkipped) {
  EXPECT_TRUE(decoder_.Decode("").ok());
  EXPECT_TRUE(decoder_.Decode("\xC2\x02\x03xyz").ok());  // field 40
  const std::string longer =
      std::string("\xC2\x02\x80\x80\xC0\x02") + std::string(5 << 20, 'x');
  EXPECT_TRUE(decoder_.Decode(longer).ok());
  EXPECT_EQ(decoder_.result().unknown_records, 3u);
}

TEST_F(RecordDecoderTest, UnknownFieldsAreIgnored) {
  std::string bytes = record_.SerializeAsString();
  bytes += "\xC2\x02\x03xyz";
  EXPECT_TRUE(decoder_.Decode(bytes).ok());
  EXPECT_EQ(visitor_.rows().size(), 3u);
}

TEST_F(RecordDecoderTest, KnownKindsAreBoundedInSize) {
  Record record;
  record.mutable_mark()->set_label(std::string(5 << 20, 'l'));
  EXPECT_THAT(Decode(record).message(),
              HasSubstr("record: expected at most 4194304 bytes"));
}

TEST_F(RecordDecoderTest, BytesThatAreNoRecordAreDamage) {
  EXPECT_EQ(decoder_.Decode("\x0A\xFF").message(),
            "record: expected a pymemrun.Record, found 2 bytes that are none");
}

TEST_F(RecordDecoderTest, ASecondFooterIsDamage) {
  Record record;
  record.mutable_footer();
  EXPECT_TRUE(Decode(record).ok());
  EXPECT_TRUE(absl::IsDataLoss(Decode(record)));
}

TEST_F(RecordDecoderTest, DefinitionsAreBoundedInAll) {
  Record record;
  record.mutable_code()->set_file(std::string(4000000, 'f'));
  absl::Status status;
  uint32_t id = 3;
  for (; status.ok() && id < 100; ++id) {
    record.mutable_code()->set_id(id);
    status = Decode(record);
  }
  EXPECT_EQ(id, 3u + 68u);
  EXPECT_THAT(status.message(), HasSubstr("268435456 bytes of them"));
}

}  // namespace
}  // namespace pymemrun
