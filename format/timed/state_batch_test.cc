#include "format/timed/state_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "format/limits.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;

std::vector<StateEvent> SomeStateEvents() {
  return {{100, 2, STATE_BORN},      {150, 2, STATE_RUNS},
          {300, 1, STATE_SLEEPS},    {400, 1, STATE_SEEN, SLEEP_IO},
          {500, 2, STATE_PREEMPTED}, {500, 1, STATE_RUNS},
          {600, 1, STATE_SLEEPS},    {700, 1, STATE_SEEN, SLEEP_OTHER, "wait4"},
          {800, 2, STATE_ENDED}};
}

StateBatch EncodedState(const std::vector<StateEvent>& events) {
  StateBatchEncoder encoder;
  for (const StateEvent& event : events) encoder.Append(event);
  StateBatch batch;
  encoder.Take(&batch);
  return batch;
}

bool Same(const StateEvent& a, const StateEvent& b) {
  return a.time_ns == b.time_ns && a.thread == b.thread &&
         a.action == b.action && a.reason == b.reason && a.other == b.other;
}

TEST(StateBatchTest, WhatGoesInComesOut) {
  const std::vector<StateEvent> events = SomeStateEvents();
  const StateBatch batch = EncodedState(events);
  uint32_t thread = 0;
  ASSERT_TRUE(StateBatchDecoder::Check(batch, &thread).ok());
  EXPECT_EQ(thread, 2u);
  // In pieces of any size.
  for (const size_t size : {1, 2, 100}) {
    StateBatchDecoder decoder(batch);
    std::vector<StateEvent> read, piece(size);
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

TEST(StateBatchTest, TimeDoesNotSinkFromBatchToBatch) {
  StateBatchEncoder encoder;
  StateBatch batch;
  encoder.Append({1000, 1, STATE_RUNS});
  encoder.AddLost(3);
  encoder.Take(&batch);
  EXPECT_EQ(batch.lost(), 3u);
  EXPECT_TRUE(encoder.empty());
  encoder.Append({900, 1, STATE_SLEEPS});
  encoder.Take(&batch);
  EXPECT_EQ(batch.first_ns(), 1000u);
  EXPECT_EQ(batch.lost(), 0u);
}

TEST(StateBatchTest, ALongNameIsCut) {
  const StateBatch batch =
      EncodedState({{1, 1, STATE_SEEN, SLEEP_OTHER, std::string(100, 'x')}});
  uint32_t thread = 0;
  EXPECT_TRUE(StateBatchDecoder::Check(batch, &thread).ok());
  EXPECT_EQ(batch.other(0).size(), kMaxSleepNameBytes);
}

TEST(StateBatchTest, DamageIsRefusedAndNamed) {
  const struct {
    std::function<void(StateBatch*)> damage;
    const char* message;
  } kCases[] = {
      {[](StateBatch* b) { b->add_thread(1); }, "states.thread"},
      {[](StateBatch* b) { b->set_thread(0, 0); }, "states.thread"},
      {[](StateBatch* b) { b->add_time_step_ns(1); }, "states.time_step_ns"},
      {[](StateBatch* b) { b->add_action(static_cast<StateAction>(99)); },
       "states.action"},
      {[](StateBatch* b) { b->add_reason(SLEEP_IO); }, "states.reason"},
      {[](StateBatch* b) { b->set_reason(0, static_cast<SleepReason>(9)); },
       "states.reason"},
      {[](StateBatch* b) { b->add_other("x"); }, "states.other"},
      {[](StateBatch* b) { b->set_other(0, std::string(65, 'x')); },
       "states.other"},
      {[](StateBatch* b) { b->set_first_ns(~uint64_t{0}); },
       "states.time_step_ns"},
      {[](StateBatch* b) { b->set_first_ns(kMaxStateNanos); },
       "states.time_step_ns"},
  };
  for (const auto& c : kCases) {
    StateBatch batch = EncodedState(SomeStateEvents());
    c.damage(&batch);
    uint32_t thread = 0;
    const absl::Status status = StateBatchDecoder::Check(batch, &thread);
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << c.message;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.message));
  }
}

SchedBatch SomeSched() {
  SchedBatch batch;
  batch.set_time_us(70);
  for (const uint32_t thread : {1, 3}) {
    batch.add_thread(thread);
    batch.add_run_ns(thread * 10);
    batch.add_runnable_ns(thread * 20);
    batch.add_voluntary(thread);
    batch.add_preempted(0);
  }
  return batch;
}

TEST(SchedBatchTest, ItsColumnsBecomeSamples) {
  SchedBatch batch = SomeSched();
  uint32_t thread = 0;
  ASSERT_TRUE(SchedBatchDecoder::Check(batch, &thread).ok());
  EXPECT_EQ(thread, 3u);
  SchedSample samples[3];
  SchedBatchDecoder decoder(batch);
  ASSERT_EQ(decoder.Next(samples, 3), 2u);
  EXPECT_EQ(decoder.Next(samples, 3), 0u);
  EXPECT_EQ(samples[1].time_us, 70u);
  EXPECT_EQ(samples[1].run_ns, 30u);
  EXPECT_EQ(samples[1].runnable_ns, 60u);
  EXPECT_EQ(samples[1].voluntary, 3u);
  // Switches are not counted where each is recorded.
  batch.clear_voluntary();
  batch.clear_preempted();
  EXPECT_TRUE(SchedBatchDecoder::Check(batch, &thread).ok());
}

TEST(SchedBatchTest, DamageIsRefusedAndNamed) {
  const struct {
    std::function<void(SchedBatch*)> damage;
    const char* message;
  } kCases[] = {
      {[](SchedBatch* b) { b->add_thread(1); }, "sched.run_ns"},
      {[](SchedBatch* b) { b->set_thread(0, 0); }, "sched.thread"},
      {[](SchedBatch* b) { b->add_runnable_ns(1); }, "sched.runnable_ns"},
      {[](SchedBatch* b) { b->clear_voluntary(); }, "sched.preempted"},
      {[](SchedBatch* b) { b->add_voluntary(1); }, "sched.voluntary"},
      {[](SchedBatch* b) { b->set_run_ns(0, kMaxStateNanos + 1); },
       "sched.run_ns"},
      {[](SchedBatch* b) { b->set_time_us(~uint64_t{0}); }, "sched.time_us"},
  };
  for (const auto& c : kCases) {
    SchedBatch batch = SomeSched();
    c.damage(&batch);
    uint32_t thread = 0;
    const absl::Status status = SchedBatchDecoder::Check(batch, &thread);
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << c.message;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.message));
  }
}

}  // namespace
}  // namespace pymemrun
