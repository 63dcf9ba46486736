#include "readers/replay/heap/heap_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/replay/heap/heap_rates_for_tests.h"
#include "readers/testing/heap_run_for_tests.h"

namespace pymemrun {
namespace {

// Sums everything anew when asked.
class NaiveModel {
 public:
  struct Block {
    HeapEvent event;
    double p;
    uint64_t number;  // of its thread's allocations
  };

  void Add(const HeapEvent& event, double p) {
    const auto found = live_.find(event.address);
    if (event.is_free) {
      if (found == live_.end()) return;
      Free(found->second);
      live_.erase(found);
      return;
    }
    const Block block = {event, p, ++allocations_[event.thread]};
    if (found != live_.end()) Free(found->second);
    live_[event.address] = block;
    allocated_bytes += static_cast<double>(event.size) / p;
    const double bytes = Sums().bytes;
    if (bytes <= peak_bytes + 1e-6) return;
    peak_bytes = bytes;
    peak_us = event.time_us;
    at_peak = live_;
  }

  HeapSums Sums(uint32_t stack = 0) const { return SumsOf(live_, stack); }
  static HeapSums SumsOf(const std::map<uint64_t, Block>& blocks,
                         uint32_t stack) {
    HeapSums sums;
    for (const auto& [address, block] : blocks) {
      if (stack != 0 && block.event.stack != stack) continue;
      const double p = block.p;
      const auto size = static_cast<double>(block.event.size);
      ++sums.recorded;
      sums.bytes += size / p;
      sums.count += 1 / p;
      sums.bytes_variance += size * size * (1 - p) / (p * p);
      sums.count_variance += (1 - p) / (p * p);
    }
    return sums;
  }

  double allocated_bytes = 0, peak_bytes = 0;
  uint64_t peak_us = 0;
  std::map<uint64_t, Block> at_peak;
  std::map<uint32_t, double> temporary;  // count by stack
  uint32_t limit = 3;

 private:
  void Free(const Block& block) {
    const auto thread = block.event.thread;
    if (allocations_[thread] - block.number < limit) {
      temporary[block.event.stack] += 1 / block.p;
    }
  }
  std::map<uint64_t, Block> live_;
  std::map<uint32_t, uint64_t> allocations_;
};

HeapEvent RandomEvent(uint64_t i, std::mt19937_64* random) {
  // Few addresses: some are freed twice, some allocated twice.
  const uint64_t address = 16 * ((*random)() % 300);
  const auto stack = static_cast<uint32_t>(1 + (*random)() % 9);
  const auto thread = static_cast<uint32_t>(1 + (*random)() % 3);
  if ((*random)() % 100 < 40) return FreeEvent(i, address, thread);
  HeapEvent event = AllocEvent(i, address, (*random)() % 5000, stack, thread);
  event.allocator = static_cast<HeapAllocator>((*random)() % HEAP_MMAP);
  return event;
}

void ExpectNear(const HeapSums& a, const HeapSums& b) {
  EXPECT_EQ(a.recorded, b.recorded);
  EXPECT_NEAR(a.bytes, b.bytes, 1e-7 * (1 + b.bytes));
  EXPECT_NEAR(a.count, b.count, 1e-7 * (1 + b.count));
  EXPECT_NEAR(a.BytesError(), b.BytesError(), 1e-5 * (1 + b.BytesError()));
  EXPECT_NEAR(a.CountError(), b.CountError(), 1e-5 * (1 + b.CountError()));
}

void ExpectSame(const HeapModel& model, const NaiveModel& naive) {
  ExpectNear(model.live(), naive.Sums());
  EXPECT_NEAR(model.Allocated().bytes, naive.allocated_bytes,
              1e-7 * naive.allocated_bytes);
  EXPECT_NEAR(model.Freed().bytes, naive.allocated_bytes - naive.Sums().bytes,
              1e-6 * naive.allocated_bytes);
  EXPECT_NEAR(model.peak_bytes(), naive.peak_bytes, 1e-3);
  EXPECT_EQ(model.peak_us(), naive.peak_us);
  for (uint32_t stack = 1; stack <= 9; ++stack) {
    HeapSums live, at_peak, temporary;
    for (uint32_t i = 0; i < model.sources().size(); ++i) {
      const HeapSource& source = model.sources()[i];
      if (source.key.stack != stack) continue;
      live.Add(source.live);
      at_peak.Add(model.AtPeak(i));
      temporary.Add(source.temporary);
    }
    ExpectNear(live, naive.Sums(stack));
    ExpectNear(at_peak, NaiveModel::SumsOf(naive.at_peak, stack));
    const auto found = naive.temporary.find(stack);
    EXPECT_NEAR(temporary.count,
                found == naive.temporary.end() ? 0 : found->second, 1e-3);
  }
}

TEST(HeapModelTest, RandomEventsGiveTheSumsOfANaiveModel) {
  for (const bool sampled : {false, true}) {
    std::mt19937_64 random(sampled ? 7 : 11);
    HeapModel model;
    NaiveModel naive;
    model.CountTemporary(naive.limit);
    HeapRates rates;
    for (uint64_t i = 0; i < 20000; ++i) {
      if (sampled && i % 5000 == 2000) {
        rates = i % 10000 == 2000 ? MeanRates(700)
                                  : ClassRates({{128, 0.01}, {1000, 0.5}});
        model.SetRates(rates);
      }
      const HeapEvent event = RandomEvent(i, &random);
      const auto size = static_cast<double>(std::max<uint64_t>(event.size, 1));
      double p = 1;
      if (rates.mean_bytes() != 0) p = 1 - std::exp(-size / 700);
      if (rates.classes_size() != 0)
        p = size < 128 ? 0.01 : size < 1000 ? .5 : 1;
      model.Add(&event, 1);
      naive.Add(event, p);
      if (i % 4999 == 0) ExpectSame(model, naive);
    }
    ExpectSame(model, naive);
    EXPECT_GT(model.unmatched_frees(), 0u);
    EXPECT_GT(model.missed_frees(), 0u);
  }
}

TEST(HeapModelTest, EventsInBatchesAreEventsOneByOne) {
  std::mt19937_64 random(3);
  std::vector<HeapEvent> events;
  for (uint64_t i = 0; i < 5000; ++i) events.push_back(RandomEvent(i, &random));
  HeapModel whole, single;
  whole.Add(events.data(), events.size());
  for (const HeapEvent& event : events) single.Add(&event, 1);
  EXPECT_EQ(whole.live().bytes, single.live().bytes);
  EXPECT_EQ(whole.peak_us(), single.peak_us());
  EXPECT_EQ(whole.blocks().size(), single.blocks().size());
}

TEST(HeapModelTest, SumsAreTheSameWithoutSources) {
  std::mt19937_64 random(4);
  HeapModel all, sums;
  sums.SumUp();
  for (HeapModel* const model : {&all, &sums}) model->SetTracing(2);
  for (uint64_t i = 0; i < 20000; ++i) {
    HeapEvent event = RandomEvent(i, &random);
    if (!event.is_free && i % 7 == 0) event.allocator = HEAP_MMAP;
    all.Add(&event, 1);
    sums.Add(&event, 1);
    ASSERT_EQ(sums.live().bytes, all.live().bytes);
  }
  EXPECT_GT(sums.live().bytes, 0);
  EXPECT_EQ(sums.peak_us(), all.peak_us());
  EXPECT_EQ(sums.mappings().parts().size(), all.mappings().parts().size());
  EXPECT_GT(all.sources().size(), 4u);
  EXPECT_EQ(sums.sources().size(), 4u);
}

TEST(HeapModelTest, ABlockKeepsTheRateAtWhichItWasRecorded) {
  HeapModel model;
  HeapEvent event = AllocEvent(1, 16, 100, 1);
  model.SetRates(ClassRates({{128, 0.25}}));
  model.Add(&event, 1);
  model.SetRates(HeapRates());
  EXPECT_DOUBLE_EQ(model.live().bytes, 400);
  EXPECT_DOUBLE_EQ(model.live().count, 4);
  EXPECT_DOUBLE_EQ(model.live().BytesError(), 100 * std::sqrt(12.0));
  event = FreeEvent(2, 16);
  model.Add(&event, 1);
  EXPECT_EQ(model.live().bytes, 0);
  EXPECT_EQ(model.live().BytesError(), 0);
}

TEST(HeapModelTest, SizeZeroCountsAsOneForTheMeanRate) {
  HeapWeights weights;
  const uint32_t rate = weights.NumberOf(MeanRates(1000));
  EXPECT_EQ(weights.WeightOf(rate, 0), weights.WeightOf(rate, 1));
  EXPECT_NEAR(weights.WeightOf(rate, 1), 1000.5, 0.1);
  EXPECT_EQ(weights.WeightOf(rate, 1 << 20), 1);
  EXPECT_EQ(weights.NumberOf(MeanRates(1000)), rate);
}

TEST(HeapModelTest, ClassBoundsAreExclusiveAndLargerSizesAlwaysRecorded) {
  HeapWeights weights;
  const uint32_t rate =
      weights.NumberOf(ClassRates({{128, 1e-4}, {8192, 0.1}, {9000, 0}}));
  EXPECT_DOUBLE_EQ(weights.WeightOf(rate, 127), 1e4);
  EXPECT_DOUBLE_EQ(weights.WeightOf(rate, 128), 10);
  EXPECT_DOUBLE_EQ(weights.WeightOf(rate, 8191), 10);
  EXPECT_DOUBLE_EQ(weights.WeightOf(rate, 8192), 1);  // which cannot be
  EXPECT_DOUBLE_EQ(weights.WeightOf(rate, 9000), 1);
}

TEST(HeapModelTest, WhatTracingAllocatesIsNotTheProgram) {
  HeapModel model;
  model.SetTracing(2);
  const std::vector<HeapEvent> events = {AllocEvent(1, 16, 100, 1),
                                         AllocEvent(2, 32, 7000, 2)};
  model.Add(events.data(), events.size());
  EXPECT_EQ(model.live().bytes, 100);
  EXPECT_EQ(model.peak_bytes(), 100);
  EXPECT_EQ(model.Allocated().bytes, 100);
  EXPECT_EQ(model.sources()[2].live.bytes, 7000);
  EXPECT_TRUE(model.sources()[2].tracing);
}

TEST(HeapModelTest, WhatFindsNoRoomIsCounted) {
  HeapModel model({/*blocks=*/2, /*sources=*/1});
  const std::vector<HeapEvent> events = {
      AllocEvent(1, 16, 100, 1), AllocEvent(2, 32, 10, 2),
      AllocEvent(3, 48, 1, 3), AllocEvent(4, 32, 20, 1)};
  model.Add(events.data(), events.size());
  EXPECT_EQ(model.not_kept(), 1u);
  EXPECT_EQ(model.missed_frees(), 1u);
  EXPECT_EQ(model.live().bytes, 120);
  EXPECT_EQ(model.sources()[0].allocated.bytes, 10);
}

// As those of tasks of a server are: each allocates for a while.
TEST(HeapModelTest, SourcesWithNothingAliveAreLetGo) {
  constexpr uint32_t kTasks = 300000;
  HeapModel model;
  uint32_t task = 0;
  model.TellTasksApart([&task](const HeapEvent&) { return task; }, false);
  double gone_bytes = 0;
  std::vector<bool> is_gone(kTasks + 1);
  model.mutable_sources()->set_let_go([&](const HeapSource& source) {
    gone_bytes += source.allocated.bytes;
    is_gone[source.key.task] = true;
  });
  HeapEvent event;
  event.stack = event.thread = 1;
  event.size = 16;
  for (task = 1; task <= kTasks; ++task) {
    event.address = 0x1000 + 16 * task;
    event.is_free = false;
    model.Add(&event, 1);
    if (task == 7) model.mutable_sources()->HoldLive();
    if (task % 1000 == 0) continue;
    event.is_free = true;
    model.Add(&event, 1);
  }
  EXPECT_EQ(model.Allocated().bytes, 16.0 * kTasks);
  EXPECT_EQ(model.live().bytes, 16.0 * kTasks / 1000);
  EXPECT_LT(model.sources().size(), 40000u);
  double kept_bytes = 0;
  for (uint32_t i = 1; i < model.sources().size(); ++i) {
    kept_bytes += model.sources()[i].allocated.bytes;
  }
  EXPECT_EQ(gone_bytes + kept_bytes, 16.0 * kTasks);
  EXPECT_TRUE(is_gone[1]);
  EXPECT_FALSE(is_gone[7]);  // it was alive when live ones were to be held
  EXPECT_FALSE(is_gone[1000]);
  EXPECT_FALSE(is_gone[kTasks]);
}

}  // namespace
}  // namespace pymemrun
