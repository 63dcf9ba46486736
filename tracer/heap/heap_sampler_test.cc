#include "tracer/heap/heap_sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

namespace pymemrun {
namespace {

HeapSampler g_sampler;

// How many of `count` allocations of that size on a new thread are taken.
template <bool kByClass>
int TakenOf(int count, size_t size) {
  int taken = 0;
  std::thread([&] {
    for (int i = 0; i < count; ++i) {
      if (kByClass) {
        taken += g_sampler.ChargeClass(size) && g_sampler.TakeClass(size);
      } else {
        taken += HeapSampler::ChargeBytes(size) && g_sampler.TakeBytes();
      }
    }
  }).join();
  return taken;
}

// The seeds are the system's, so a bound is one that a right sampler exceeds
// once in a million times.
void ExpectBinomial(int taken, int count, double p) {
  const double sigma = std::sqrt(count * p * (1 - p));
  EXPECT_NEAR(taken, count * p, 5 * sigma + 1) << "p = " << p;
}

TEST(HeapSamplerTest, ASizeIsTakenWithItsOwnProbability) {
  HeapRatesConfig rates;
  rates.mean_bytes = 4096;
  g_sampler.Set(rates);
  constexpr int kCount = 400000;
  for (size_t size : {1, 16, 100, 512, 4096, 10000}) {
    const double p = 1 - std::exp(-static_cast<double>(size) / 4096);
    ExpectBinomial(TakenOf<false>(kCount, size), kCount, p);
  }
}

TEST(HeapSamplerTest, WhatCameBeforeDoesNotMatter) {
  HeapRatesConfig rates;
  rates.mean_bytes = 1000;
  g_sampler.Set(rates);
  constexpr int kCount = 300000;
  int small = 0, large = 0;
  std::thread([&] {
    for (int i = 0; i < kCount; ++i) {
      small += HeapSampler::ChargeBytes(10) && g_sampler.TakeBytes();
      large += HeapSampler::ChargeBytes(700) && g_sampler.TakeBytes();
    }
  }).join();
  ExpectBinomial(small, kCount, 1 - std::exp(-0.01));
  ExpectBinomial(large, kCount, 1 - std::exp(-0.7));
}

// Each begins with a count drawn by itself.
TEST(HeapSamplerTest, ShortThreadsAreSampledAsLongOnes) {
  HeapRatesConfig rates;
  rates.mean_bytes = 100;
  g_sampler.Set(rates);
  constexpr int kThreads = 3000;
  int taken = 0;
  for (int i = 0; i < kThreads; ++i) taken += TakenOf<false>(1, 50);
  ExpectBinomial(taken, kThreads, 1 - std::exp(-0.5));
}

TEST(HeapSamplerTest, ClassesHaveExclusiveUpperBounds) {
  HeapRatesConfig rates;
  rates.mean_bytes = 0;
  rates.classes[0] = {128, 1e-2};
  rates.classes[1] = {8192, 0.25};
  rates.class_count = 2;
  g_sampler.Set(rates);
  EXPECT_TRUE(g_sampler.by_class());
  constexpr int kCount = 200000;
  ExpectBinomial(TakenOf<true>(kCount, 0), kCount, 1e-2);
  ExpectBinomial(TakenOf<true>(kCount, 127), kCount, 1e-2);
  ExpectBinomial(TakenOf<true>(kCount, 128), kCount, 0.25);
  ExpectBinomial(TakenOf<true>(kCount, 8191), kCount, 0.25);
  EXPECT_EQ(TakenOf<true>(1000, 8192), 1000);
}

TEST(HeapSamplerTest, AClassMayHaveNoneOrAll) {
  HeapRatesConfig rates;
  rates.mean_bytes = 0;
  rates.classes[0] = {64, 0};
  rates.classes[1] = {128, 1};
  rates.class_count = 2;
  g_sampler.Set(rates);
  EXPECT_EQ(TakenOf<true>(100000, 63), 0);
  EXPECT_EQ(TakenOf<true>(1000, 64), 1000);
}

// A count drawn by a large mean would pass over what a small one takes.
TEST(HeapSamplerTest, NewRatesHoldAtOnce) {
  HeapRatesConfig rare, often;
  rare.mean_bytes = 1 << 30;
  often.mean_bytes = 16;
  std::thread([&] {
    g_sampler.Set(rare);
    for (int i = 0; i < 1000; ++i) {
      if (HeapSampler::ChargeBytes(16)) g_sampler.TakeBytes();
    }
    g_sampler.Set(often);
    constexpr int kCount = 100000;
    int taken = 0;
    for (int i = 0; i < kCount; ++i) {
      taken += HeapSampler::ChargeBytes(16) && g_sampler.TakeBytes();
    }
    ExpectBinomial(taken, kCount, 1 - std::exp(-1.0));
  }).join();
}

TEST(HeapSamplerTest, AThreadAtRestIsNotAskedAgainUntilItDrawsAnew) {
  HeapRatesConfig rates;
  rates.mean_bytes = 1;
  g_sampler.Set(rates);
  bool asked = false;
  std::thread([&] {
    EXPECT_TRUE(HeapSampler::ChargeBytes(100));
    HeapSampler::Rest();
    for (int i = 0; i < 1000; ++i) {
      asked |= HeapSampler::ChargeBytes(size_t{1} << 40);
    }
    EXPECT_FALSE(asked);
    HeapSampler::DrawAnew();
    EXPECT_TRUE(HeapSampler::ChargeBytes(100));
    EXPECT_TRUE(g_sampler.TakeBytes());
  }).join();
}

}  // namespace
}  // namespace pymemrun
