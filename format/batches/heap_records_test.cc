// Heap events as RecordDecoder and ReadStream() give them, and their spans.
#include <limits>
#include <string>
#include <vector>

#include "format/batches/heap_run_for_tests.h"
#include "format/records/record_decoder.h"
#include "format/stream/record_span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace pymemrun {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

class HeapKeeper : public CheckingVisitor {
 public:
  bool OnHeap(const HeapEvent* events, size_t count) override {
    CheckingVisitor::OnHeap(events, count);
    heap.insert(heap.end(), events, events + count);
    return !stop;
  }
  bool stop = false;
  std::vector<HeapEvent> heap;
};

// A decoder that has seen Definitions(), and a batch to spoil.
class HeapRecordsTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const Record& record : Definitions()) {
      ASSERT_TRUE(Decode(record).ok());
    }
  }
  absl::Status Decode(const Record& record) {
    return decoder_.Decode(record.SerializeAsString());
  }
  // What is wrong with record_; nothing of it may have been given.
  std::string Fault() {
    const absl::Status status = Decode(record_);
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
    EXPECT_THAT(visitor_.heap, IsEmpty());
    return std::string(status.message());
  }

  HeapKeeper visitor_;
  RecordDecoder decoder_{&visitor_};
  Record record_ = HeapRecord(HeapRunEvents());
  HeapBatch* const batch_ = record_.mutable_heap();
};

TEST_F(HeapRecordsTest, ABatchBecomesEvents) {
  ASSERT_TRUE(Decode(record_).ok());
  EXPECT_EQ(visitor_.heap, HeapRunEvents());
  EXPECT_EQ(decoder_.result().heap_entries, 6u);
}

TEST_F(HeapRecordsTest, AVisitorMayStop) {
  visitor_.stop = true;
  record_ = HeapRecord(std::vector<HeapEvent>(9000, FreeEvent(1, 16)));
  ASSERT_TRUE(Decode(record_).ok());
  EXPECT_TRUE(decoder_.result().stopped);
  EXPECT_LT(visitor_.heap.size(), 9000u);
  EXPECT_EQ(decoder_.result().heap_entries, visitor_.heap.size());
}

TEST_F(HeapRecordsTest, EachIdMustBeDefined) {
  const uint32_t beyond = std::numeric_limits<uint32_t>::max();
  batch_->set_stack(0, decoder_.defined().stacks + 1);
  EXPECT_THAT(Fault(), HasSubstr("heap.stack: expected an id of at most "));
  batch_->set_stack(0, 1);
  batch_->set_thread(0, beyond);
  EXPECT_THAT(Fault(), HasSubstr("heap.thread: expected an id of at most "));
  batch_->set_thread(0, 0);
  EXPECT_EQ(Fault(), "heap.thread: expected an id, found 0");
  batch_->set_thread(0, 1);
  batch_->add_code_at(2);
  batch_->add_code(1);
  EXPECT_EQ(Fault(), "heap.code: expected an id of at most 0, found 1");
}

TEST_F(HeapRecordsTest, WrongColumnsAndRatesAreDamage) {
  batch_->add_size(5);
  EXPECT_THAT(Fault(), HasSubstr("heap.size: expected "));
  record_ = HeapRatesRecord(5, 0);
  record_.mutable_heap_rates()->add_classes()->set_probability(0.5);
  EXPECT_THAT(Fault(), HasSubstr("heap_rates.classes: "));
}

TEST_F(HeapRecordsTest, ABatchHasNoMoreEntriesThanItMay) {
  record_ = HeapRecord({FreeEvent(1, 0x10)});
  std::string* const op = record_.mutable_heap()->mutable_op();
  op->assign(1 << 20, op->at(0));
  op->push_back(op->at(0));
  EXPECT_EQ(Fault(),
            "heap.op: expected at most 1048576 entries, found 1048577");
}

TEST_F(HeapRecordsTest, ASpoiledBatchIsNoLostDefinition) {
  batch_->add_size(5);
  Fault();
  batch_->mutable_size()->RemoveLast();
  batch_->set_stack(0, decoder_.defined().stacks + 1);
  EXPECT_THAT(Fault(), HasSubstr("an id of at most "));
}

TEST(HeapSpans, HaveTheirTimes) {
  const std::string batch = HeapRecord(HeapRunEvents()).SerializeAsString();
  FrameSpan span = SpanOfRecord(batch);
  EXPECT_EQ(span.first_us, 2000u);
  EXPECT_EQ(span.last_us, 2800u);
  EXPECT_FALSE(span.needed || span.has_rows());
  EXPECT_TRUE(HoldsRowsOnly(batch));
  Record loss;
  loss.mutable_heap_loss()->set_time_us(7);
  span = SpanOfRecord(loss.SerializeAsString());
  EXPECT_EQ(span.first_us, 7u);
  EXPECT_FALSE(span.needed);
}

// The weight of each sample behind them comes from the rates.
TEST(HeapSpans, RatesAreNeededByReadersOfLaterTimes) {
  const std::string rates = HeapRatesRecord(9, 1).SerializeAsString();
  const FrameSpan span = SpanOfRecord(rates);
  EXPECT_EQ(span.first_us, 9u);
  EXPECT_EQ(span.last_us, 9u);
  EXPECT_TRUE(span.needed);
  EXPECT_FALSE(HoldsRowsOnly(rates));
}

TEST(HeapRun, IsReadWhole) {
  const std::string file = Joined(HeapRunFrames());
  StringSource source(file);
  HeapKeeper visitor;
  ReadResult result;
  ASSERT_TRUE(ReadStream(&source, {}, &visitor, &result).ok());
  EXPECT_EQ(result.damages + result.unknown_records, 0u);
  EXPECT_EQ(visitor.heap, HeapRunEvents());
  EXPECT_THAT(visitor.lines(), Contains("heap rates 65536"));
  EXPECT_THAT(visitor.lines(), Contains("heap loss 5"));
}

}  // namespace
}  // namespace pymemrun
