#include "format/timed/timed_entries.h"

#include <vector>

#include "format/limits.h"
#include "format/timed/timed_events.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace pymemrun {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

GilEvent EventAt(uint64_t time_ns, uint32_t thread = 1) {
  GilEvent event;
  event.time_ns = time_ns;
  event.thread = thread;
  event.action = GIL_WAITING;
  return event;
}

GilBatch BatchOf(TimedEntries* entries, const std::vector<GilEvent>& events) {
  GilBatch batch;
  for (const GilEvent& event : events) entries->Append(event, &batch);
  return batch;
}

std::string Problem(const GilBatch& batch) {
  uint32_t thread = 0;
  return std::string(CheckTimed("gil", batch, kMaxGilNanos, &thread).message());
}

TEST(TimedEntriesTest, TimesDoNotSinkFromBatchToBatch) {
  TimedEntries entries;
  const GilBatch first = BatchOf(&entries, {EventAt(7), EventAt(5)});
  EXPECT_EQ(first.first_ns(), 7u);
  EXPECT_THAT(first.time_step_ns(), ElementsAre(0, 0));
  const GilBatch second = BatchOf(&entries, {EventAt(6), EventAt(9)});
  EXPECT_EQ(second.first_ns(), 7u);
  EXPECT_THAT(second.time_step_ns(), ElementsAre(0, 2));
}

TEST(TimedEntriesTest, WhatWasWrittenIsReadInPieces) {
  TimedEntries entries;
  const GilBatch batch =
      BatchOf(&entries, {EventAt(10, 1), EventAt(30, 2), EventAt(60, 3)});
  uint32_t thread = 0;
  ASSERT_TRUE(CheckTimed("gil", batch, kMaxGilNanos, &thread).ok());
  EXPECT_EQ(thread, 3u);
  TimedCursor<GilBatch> cursor(batch);
  std::vector<uint64_t> times;
  std::vector<int> rows;
  GilEvent events[2];
  const auto complete = [&](int row, GilEvent*) { rows.push_back(row); };
  while (const size_t count = cursor.Next(events, 2, complete)) {
    for (size_t i = 0; i < count; ++i) times.push_back(events[i].time_ns);
  }
  EXPECT_THAT(times, ElementsAre(10, 30, 60));
  EXPECT_THAT(rows, ElementsAre(0, 1, 2));
}

TEST(TimedEntriesTest, DamageIsNamed) {
  TimedEntries entries;
  const GilBatch good = BatchOf(&entries, {EventAt(10), EventAt(30)});
  GilBatch batch = good;
  batch.add_time_step_ns(0);
  EXPECT_THAT(Problem(batch),
              HasSubstr("gil.time_step_ns: expected 2 entries"));
  batch = good;
  batch.mutable_thread()->RemoveLast();
  EXPECT_THAT(Problem(batch), HasSubstr("gil.thread: expected 2 entries"));
  batch = good;
  batch.set_thread(0, 0);
  EXPECT_THAT(Problem(batch), HasSubstr("gil.thread: expected"));
  batch = good;
  batch.set_time_step_ns(1, kMaxGilNanos);
  EXPECT_THAT(Problem(batch), HasSubstr("gil.time_step_ns: expected a time"));
  batch.set_time_step_ns(1, ~uint64_t{0});
  EXPECT_THAT(Problem(batch), HasSubstr("gil.time_step_ns: expected"));
}

TEST(TimedEntriesTest, TooLargeCountsAreNamed) {
  GilBatch batch;
  batch.add_pauses(7);
  EXPECT_TRUE(CheckMost("gil.pauses", batch.pauses(), 7).ok());
  batch.add_pauses(8);
  EXPECT_EQ(CheckMost("gil.pauses", batch.pauses(), 7).message(),
            "gil.pauses: expected at most 7, found 8");
}

}  // namespace
}  // namespace pymemrun
