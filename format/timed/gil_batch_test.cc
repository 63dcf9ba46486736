#include "format/timed/gil_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "format/limits.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;

std::vector<GilEvent> SomeGilEvents() {
  return {{.time_ns = 100, .thread = 1, .action = GIL_TAKEN},
          {.time_ns = 250,
           .thread = 2,
           .action = GIL_WAITING,
           .pauses = 3,
           .paused_ns = 40},
          {.time_ns = 900,
           .thread = 1,
           .action = GIL_HOLDER,
           .stack = 7,
           .function = 2},
          {.time_ns = 910,
           .thread = 2,
           .action = GIL_TAKEN,
           .free_ns = 10,
           .pauses = 3,
           .paused_ns = 40},
          {.time_ns = 911, .thread = 2, .action = GIL_WAITER, .stack = 8},
          {.time_ns = 911, .thread = 3, .gil = 2, .action = GIL_TAKEN},
          {.time_ns = 950, .thread = 1, .action = GIL_GAVE_WAY},
          {.time_ns = 999, .thread = 2, .action = GIL_LEFT},
          {.time_ns = 1000, .thread = 1, .action = GIL_STATE, .free_ns = 5}};
}

GilBatch EncodedGil(const std::vector<GilEvent>& events) {
  GilBatchEncoder encoder;
  for (const GilEvent& event : events) encoder.Append(event);
  GilBatch batch;
  encoder.Take(&batch);
  return batch;
}

bool Same(const GilEvent& a, const GilEvent& b) {
  return a.time_ns == b.time_ns && a.thread == b.thread && a.gil == b.gil &&
         a.action == b.action && a.free_ns == b.free_ns &&
         a.pauses == b.pauses && a.paused_ns == b.paused_ns &&
         a.stack == b.stack && a.function == b.function && a.by == b.by;
}

TEST(GilBatchTest, WhatGoesInComesOut) {
  const std::vector<GilEvent> events = SomeGilEvents();
  const GilBatch batch = EncodedGil(events);
  GilBatchDecoder::Ids ids;
  ASSERT_TRUE(GilBatchDecoder::Check(batch, &ids).ok());
  EXPECT_EQ(ids.thread, 3u);
  EXPECT_EQ(ids.stack, 8u);
  EXPECT_EQ(ids.function, 2u);
  // In pieces of any size.
  for (const size_t size : {1, 2, 100}) {
    GilBatchDecoder decoder(batch);
    std::vector<GilEvent> read, piece(size);
    while (const size_t count = decoder.Next(piece.data(), size)) {
      read.insert(read.end(), piece.begin(),
                  piece.begin() + static_cast<std::ptrdiff_t>(count));
    }
    ASSERT_EQ(read.size(), events.size());
    for (size_t i = 0; i < read.size(); ++i) {
      EXPECT_TRUE(Same(read[i], events[i])) << i;
    }
  }
}

TEST(GilBatchTest, ABatchFollowsAnother) {
  GilBatchEncoder encoder;
  GilBatch batch;
  for (int round = 0; round < 2; ++round) {
    for (const GilEvent& event : SomeGilEvents()) encoder.Append(event);
    encoder.Take(&batch);
    EXPECT_EQ(encoder.entries(), 0u);
    GilBatchDecoder::Ids ids;
    ASSERT_TRUE(GilBatchDecoder::Check(batch, &ids).ok());
    GilEvent first;
    ASSERT_EQ(GilBatchDecoder(batch).Next(&first, 1), 1u);
    EXPECT_EQ(first.gil, 1u);
    // Time does not sink, not from batch to batch either.
    EXPECT_EQ(first.time_ns, round == 0 ? 100u : 1000u);
  }
}

TEST(GilBatchTest, DamageIsRefusedAndNamed) {
  const struct {
    std::function<void(GilBatch*)> damage;
    const char* message;
  } kCases[] = {
      {[](GilBatch* b) { b->add_thread(1); }, "gil.thread"},
      {[](GilBatch* b) { b->add_time_step_ns(1); }, "gil.time_step_ns"},
      {[](GilBatch* b) { b->add_action(static_cast<GilAction>(99)); },
       "gil.action"},
      {[](GilBatch* b) { b->set_thread(0, 0); }, "gil.thread"},
      {[](GilBatch* b) { b->set_gil(0, 0); }, "gil.gil"},
      {[](GilBatch* b) { b->add_gil(4); }, "gil.gil"},
      {[](GilBatch* b) { b->set_gil_at(0, 1); }, "gil.gil_at"},
      {[](GilBatch* b) { b->set_gil_at(1, 999); }, "gil.gil_at"},
      {[](GilBatch* b) { b->add_free_ns(4); }, "gil.free_ns"},
      {[](GilBatch* b) { b->mutable_pauses()->RemoveLast(); }, "gil.pauses"},
      {[](GilBatch* b) { b->add_paused_ns(4); }, "gil.paused_ns"},
      {[](GilBatch* b) { b->add_stack(4); }, "gil.stack"},
      {[](GilBatch* b) { b->mutable_function()->RemoveLast(); },
       "gil.function"},
      {[](GilBatch* b) { b->set_first_ns(~uint64_t{0}); }, "gil.time_step_ns"},
      {[](GilBatch* b) { b->set_first_ns(kMaxGilNanos); }, "gil.time_step_ns"},
      {[](GilBatch* b) { b->set_paused_ns(0, kMaxGilNanos + 1); },
       "gil.paused_ns"},
      {[](GilBatch* b) { b->set_free_ns(0, kMaxGilNanos + 1); }, "gil.free_ns"},
      {[](GilBatch* b) { b->set_pauses(0, kMaxGilNanos + 1); }, "gil.pauses"},
      {[](GilBatch* b) { b->add_by(1); }, "gil.by"},
  };
  for (const auto& c : kCases) {
    GilBatch batch = EncodedGil(SomeGilEvents());
    c.damage(&batch);
    GilBatchDecoder::Ids ids;
    const absl::Status status = GilBatchDecoder::Check(batch, &ids);
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << c.message;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.message));
  }
}

}  // namespace
}  // namespace pymemrun
