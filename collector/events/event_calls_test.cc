#include <gtest/gtest.h>

#include "collector/events/event_encoder_fixture.h"

namespace pymemrun {
namespace {

using EventCallsTest = EventEncoderTest;

// The next row's call began this many events before it, at that stamp.
void PutCall(SlotStream* stream, uint64_t events, uint64_t stamp,
             int32_t pages) {
  stream->State(ControlKind::kCall, static_cast<uint32_t>(events),
                static_cast<uint32_t>(events >> 32),
                static_cast<uint32_t>(pages));
  stream->Wide(ControlKind::kCallClock, stamp);
}

TEST_F(EventCallsTest, AReturnKnowsItsCall) {
  stream_.Wide(ControlKind::kNumber, uint64_t{5} << 32);
  stream_.State(ControlKind::kRss, 100, 100);
  PutCall(&stream_, uint64_t{3} << 32 | 7, 1000 + 2000, -20);
  stream_.Row(1, 1, 0, 0, 1000 + 9000);
  stream_.Row(1, 1, 0, 0, 1000 + 9500);
  Send();
  encoder_.EndBatch();
  ASSERT_EQ(out_.rows.size(), 2u);
  EXPECT_EQ(out_.rows[0].call_events, uint64_t{3} << 32 | 7);
  EXPECT_EQ(out_.rows[0].call_us, 7u);
  EXPECT_EQ(out_.rows[0].call_drss, -20 * 4096);
  EXPECT_EQ(out_.rows[1].call_events, 0u);  // what is said is of one row
  EXPECT_EQ(encoder_.bad_slots(), 0u);
}

// The ring may hold anything.
TEST_F(EventCallsTest, CallsThatCannotBeArePassedOver) {
  stream_.Wide(ControlKind::kNumber, 10);
  stream_.State(ControlKind::kRss, 100, 100);
  PutCall(&stream_, 1, 1000, 0);
  stream_.Row(0, 1, 0, 0, 2000);  // no RETURN
  PutCall(&stream_, 0, 1000, 0);
  stream_.Row(1, 1, 0, 0, 3000);  // its own
  PutCall(&stream_, 13, 1000, 0);
  stream_.Row(1, 1, 0, 0, 4000);  // before the first event
  PutCall(&stream_, 1, 1000, 101);
  stream_.Row(1, 1, 0, 0, 5000);  // RSS was below 0
  stream_.State(ControlKind::kCall, 1);
  stream_.Row(1, 1, 0, 0, 6000);  // without a time
  PutCall(&stream_, 1, 9000, 0);
  stream_.Row(1, 1, 0, 0, 7000);  // in the future
  Send();
  encoder_.EndBatch();
  ASSERT_EQ(out_.rows.size(), 6u);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(out_.rows[i].call_events, 0u) << i;
  EXPECT_EQ(out_.rows[5].call_events, 1u);
  EXPECT_EQ(out_.rows[5].call_us, 0u);
  EXPECT_EQ(encoder_.bad_slots(), 4u);
}

}  // namespace
}  // namespace pymemrun
