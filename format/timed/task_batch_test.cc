#include "format/timed/task_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "format/limits.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;

std::vector<TaskEvent> SomeTaskEvents() {
  return {{1000, 1, 1, TASK_WAITS, 900, 4096, 3},
          {1500, 1, 2, TASK_BLOCKED, 100, 0, 4},
          {1800, 1, 2, TASK_DONE, 700, -8192, 0},
          {1800, 2, 9, TASK_RUNS, 1, 0, 1}};
}

TaskBatch EncodedTask(const std::vector<TaskEvent>& events) {
  TaskBatchEncoder encoder;
  for (const TaskEvent& event : events) encoder.Append(event);
  TaskBatch batch;
  encoder.Take(&batch);
  return batch;
}

std::vector<TaskEvent> Decoded(const TaskBatch& batch, size_t size) {
  TaskBatchDecoder decoder(batch);
  std::vector<TaskEvent> read, piece(size);
  while (const size_t count = decoder.Next(piece.data(), size)) {
    read.insert(read.end(), piece.begin(),
                piece.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return read;
}

bool Same(const TaskEvent& a, const TaskEvent& b) {
  return a.time_ns == b.time_ns && a.thread == b.thread && a.task == b.task &&
         a.action == b.action && a.lasted_ns == b.lasted_ns &&
         a.grown_bytes == b.grown_bytes && a.stack == b.stack;
}

TEST(TaskBatchTest, WhatGoesInComesOut) {
  const std::vector<TaskEvent> events = SomeTaskEvents();
  const TaskBatch batch = EncodedTask(events);
  TaskBatchDecoder::Ids ids;
  ASSERT_TRUE(TaskBatchDecoder::Check(batch, &ids).ok());
  EXPECT_EQ(ids.thread, 2u);
  EXPECT_EQ(ids.stack, 4u);
  // In pieces of any size.
  for (const size_t size : {1, 3, 100}) {
    const std::vector<TaskEvent> read = Decoded(batch, size);
    ASSERT_EQ(read.size(), events.size());
    for (size_t i = 0; i < read.size(); ++i) {
      EXPECT_TRUE(Same(read[i], events[i])) << i;
    }
  }
}

TEST(TaskBatchTest, TimeDoesNotSinkFromBatchToBatch) {
  TaskBatchEncoder encoder;
  TaskBatch batch;
  encoder.Append({1000, 1, 1});
  encoder.Take(&batch);
  EXPECT_EQ(encoder.entries(), 0u);
  encoder.Append({900, 1, 1});
  encoder.Take(&batch);
  EXPECT_EQ(batch.first_ns(), 1000u);
}

TEST(TaskBatchTest, WhatLiesBeyondALimitIsCutToIt) {
  const TaskBatch batch = EncodedTask(
      {{~uint64_t{0}, 1, 1, TASK_WAITS, ~uint64_t{0}, INT64_MIN, 0}});
  TaskBatchDecoder::Ids ids;
  ASSERT_TRUE(TaskBatchDecoder::Check(batch, &ids).ok());
  const TaskEvent event = Decoded(batch, 1)[0];
  EXPECT_EQ(event.time_ns, kMaxTaskNanos);
  EXPECT_EQ(event.lasted_ns, kMaxTaskNanos);
  EXPECT_EQ(event.grown_bytes, -kMaxTaskBytes);
}

TEST(TaskBatchTest, DamageIsRefused) {
  struct Case {
    std::function<void(TaskBatch*)> damage;
    std::string says;
  };
  const std::vector<Case> cases = {
      {[](TaskBatch* b) { b->add_thread(1); }, "tasks.thread"},
      {[](TaskBatch* b) { b->mutable_task()->RemoveLast(); }, "tasks.task"},
      {[](TaskBatch* b) { b->add_time_step_ns(1); }, "tasks.time_step_ns"},
      {[](TaskBatch* b) { b->add_lasted_ns(1); }, "tasks.lasted_ns"},
      {[](TaskBatch* b) { b->add_grown_bytes(1); }, "tasks.grown_bytes"},
      {[](TaskBatch* b) { b->add_stack(1); }, "tasks.stack"},
      {[](TaskBatch* b) { b->set_thread(0, 0); }, "tasks.thread"},
      {[](TaskBatch* b) { b->set_task(1, 0); }, "tasks.task"},
      {[](TaskBatch* b) { b->set_action(0, static_cast<TaskAction>(7)); },
       "tasks.action"},
      {[](TaskBatch* b) { b->set_lasted_ns(0, kMaxTaskNanos + 1); },
       "tasks.lasted_ns"},
      {[](TaskBatch* b) { b->set_grown_bytes(0, INT64_MIN); },
       "tasks.grown_bytes"},
      {[](TaskBatch* b) { b->set_grown_bytes(0, kMaxTaskBytes + 1); },
       "tasks.grown_bytes"},
      {[](TaskBatch* b) { b->set_first_ns(kMaxTaskNanos); },
       "tasks.time_step_ns"},
      {[](TaskBatch* b) { b->set_time_step_ns(1, ~uint64_t{0}); },
       "tasks.time_step_ns"},
  };
  for (const Case& c : cases) {
    TaskBatch batch = EncodedTask(SomeTaskEvents());
    c.damage(&batch);
    TaskBatchDecoder::Ids ids;
    const absl::Status status = TaskBatchDecoder::Check(batch, &ids);
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << c.says;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.says));
  }
}

}  // namespace
}  // namespace pymemrun
