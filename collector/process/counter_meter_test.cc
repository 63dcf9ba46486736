#include "collector/process/counter_meter.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "text/units_for_tests.h"

namespace pymemrun {
namespace {

TEST(CounterMeterTest, NothingIsDueWithoutCounters) {
  PssMeter pss(getpid());
  const CounterMeter meter(0, getpid(), &pss);
  EXPECT_FALSE(meter.is_on());
  EXPECT_FALSE(meter.IsDue(1000 * kMs));
}

TEST(CounterMeterTest, SamplesKeepTheirBeat) {
  PssMeter pss(getpid());
  CounterMeter meter(100, getpid(), &pss);
  EXPECT_TRUE(meter.IsDue(1000 * kMs));
  meter.Took(1000 * kMs, 0);
  EXPECT_FALSE(meter.IsDue(1099 * kMs));
  EXPECT_EQ(meter.NsUntilDue(1099 * kMs), kMs);
  meter.Took(1130 * kMs, 0);  // which was late
  EXPECT_TRUE(meter.IsDue(1200 * kMs));
  meter.Took(1450 * kMs, 0);  // beats were missed
  EXPECT_FALSE(meter.IsDue(1549 * kMs));
  EXPECT_TRUE(meter.IsDue(1550 * kMs));
}

TEST(CounterMeterTest, ASlowReadingWaitsUntilItCostsHalfAPercent) {
  PssMeter pss(getpid());
  CounterMeter meter(100, getpid(), &pss);
  meter.Took(1000 * kMs, 5 * kMs);
  EXPECT_FALSE(meter.IsDue(1999 * kMs));
  EXPECT_TRUE(meter.IsDue(2000 * kMs));
}

// It has half a percent of its own.
TEST(CounterMeterTest, WhatPssCostsDelaysNothingElse) {
  PssMeter pss(getpid());
  CounterMeter meter(20, getpid(), &pss);
  ProcessSample sample;
  meter.Read(1000 * kMs, &sample);
  EXPECT_GT(sample.pss_bytes(), 0u);
  const uint64_t pss_ns = meter.pss_cpu_ns();
  EXPECT_GT(pss_ns, 0u);
  meter.Took(1000 * kMs, pss_ns);
  EXPECT_EQ(meter.NsUntilDue(1000 * kMs), 20 * kMs);
  meter.Read(1020 * kMs, &sample);
  meter.Took(1020 * kMs, meter.pss_cpu_ns() + kMs);
  EXPECT_EQ(meter.NsUntilDue(1020 * kMs), 200 * kMs);
}

TEST(CounterMeterTest, TellsOpenDescriptorsExactly) {
  PssMeter pss(getpid());
  CounterMeter meter(100, getpid(), &pss);
  ProcessSample before, after;
  meter.Read(kMs, &before);
  meter.Read(2 * kMs, &before);  // the meter has its own open by now
  std::vector<int> fds;
  for (int i = 0; i < 17; ++i) fds.push_back(open("/dev/null", O_RDONLY));
  meter.Read(3 * kMs, &after);
  EXPECT_TRUE(after.counted());
  EXPECT_GT(after.descriptors(), 18u);
  EXPECT_EQ(after.descriptors(), before.descriptors() + 17);
  for (int fd : fds) close(fd);
  meter.Read(4 * kMs, &after);
  EXPECT_EQ(after.descriptors(), before.descriptors());
}

// Counts a child that has what this process has, by both ways of counting.
uint64_t CountInChild() {
  const pid_t child = fork();
  if (child == 0) {
    while (true) pause();
  }
  DescriptorCount count(child);
  const uint64_t first = count.Read().value();
  EXPECT_EQ(count.Read().value(), first);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return first;
}

TEST(CounterMeterTest, TheGaugesDescriptorIsNotCounted) {
  const uint64_t before = CountInChild();
  const int gauges = open("/proc/self/statm", O_RDONLY);
  EXPECT_EQ(CountInChild(), before);
  const int other = dup(gauges);  // one of the two is the program's
  EXPECT_EQ(CountInChild(), before + 1);
  close(other);
  close(gauges);
  EXPECT_EQ(CountInChild(), before);
}

TEST(CounterMeterTest, OfNobodyNothingIsTold) {
  PssMeter pss(1 << 30);
  CounterMeter meter(100, 1 << 30, &pss);
  ProcessSample sample;
  meter.Read(kMs, &sample);
  EXPECT_EQ(sample.descriptors(), 0u);
  EXPECT_EQ(sample.pss_bytes(), 0u);
}

}  // namespace
}  // namespace pymemrun
