// For tests: an encoder whose records are decoded as readers do.
#ifndef PYMEMRUN_COLLECTOR_EVENTS_EVENT_ENCODER_FIXTURE_H_
#define PYMEMRUN_COLLECTOR_EVENTS_EVENT_ENCODER_FIXTURE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "collector/events/event_encoder.h"
#include "collector/ring/ring_fixture.h"
#include "format/records/record_decoder.h"

namespace pymemrun {

// Parses every record with the generated classes, and decodes it as readers do.
class EncoderOutput final : public RecordSink, public RecordVisitor {
 public:
  EncoderOutput() : decoder_(this) {
    Record record;
    record.mutable_header()->set_format_version(1);
    Write(record);
  }
  using RecordSink::Write;
  void Write(absl::string_view bytes, RowCounts counts) override {
    Record record;
    ASSERT_TRUE(record.ParseFromArray(bytes.data(), bytes.size()));
    if (record.has_events()) {
      EXPECT_EQ(record.events().site_size(), static_cast<int>(counts.rows));
      EXPECT_EQ(record.events().context_at_size(),
                static_cast<int>(counts.context));
      // By hand and by protobuf: the same bytes.
      EXPECT_EQ(record.SerializeAsString(), bytes);
    }
    const absl::Status status = decoder_.Decode(bytes);
    EXPECT_TRUE(status.ok()) << status;
    records.push_back(std::move(record));
  }
  bool OnRows(const Row* batch, size_t count) override {
    rows.insert(rows.end(), batch, batch + count);
    return true;
  }
  void OnCode(const CodeDef& def) override { codes.push_back(def); }
  void OnSite(const SiteDef& def) override { sites.push_back(def); }
  void OnThread(const ThreadDef& def) override { threads.push_back(def); }
  void OnStack(const StackDef& def) override { stacks.push_back(def); }
  void OnFunction(const FunctionDef& d) override { functions.push_back(d); }

  std::vector<Record> records;
  std::vector<Row> rows;
  std::vector<CodeDef> codes;
  std::vector<SiteDef> sites;
  std::vector<ThreadDef> threads;
  std::vector<StackDef> stacks;
  std::vector<FunctionDef> functions;

 private:
  RecordDecoder decoder_;
};

// Time stamps are nanoseconds, so that the expected times are exact.
class EventEncoderTest : public testing::Test {
 protected:
  EventEncoderTest() : encoder_(4096, &clock_, &out_) {
    clock_.Start(false, {0, 1000}, {});
    encoder_.Start(1000);
  }
  // Gives the stream in spans of random lengths, as the ring's edges would.
  void Send(uint32_t largest_span = 1000000) {
    size_t at = 0;
    while (at < stream_.slots().size()) {
      const size_t count = std::min<size_t>(1 + random_() % largest_span,
                                            stream_.slots().size() - at);
      // A copy, so that reading beyond the span is seen by sanitizers.
      const std::vector<EventSlot> span(stream_.slots().begin() + at,
                                        stream_.slots().begin() + at + count);
      encoder_.Consume(span.data(), span.size());
      at += count;
    }
    stream_.Clear();
  }

  std::minstd_rand random_;
  ClockScale clock_;
  EncoderOutput out_;
  EventEncoder encoder_;
  SlotStream stream_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_EVENTS_EVENT_ENCODER_FIXTURE_H_
