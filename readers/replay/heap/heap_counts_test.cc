// How many blocks there are, and how many bytes, where few of them are
// recorded: what is said of it is right in 19 of 20 cases.
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/replay/heap/heap_rates_for_tests.h"
#include "readers/replay/heap/heap_source.h"
#include "readers/replay/heap/heap_weights.h"
#include "readers/testing/heap_run_for_tests.h"
#include "readers/testing/program_test_util.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// For some blocks of a place, one in each of many runs.
struct Coverage {
  int counts = 0, counts_by_error_alone = 0, bytes = 0;
};

Coverage Simulate(const HeapRates& rates, const std::vector<uint64_t>& blocks,
                  int runs) {
  std::mt19937_64 random(11);
  HeapWeights weights;
  const uint32_t number = weights.NumberOf(rates);
  const HeapUnseen unseen = UnseenAt(rates);
  double true_bytes = 0;
  for (const uint64_t size : blocks) true_bytes += static_cast<double>(size);
  const auto true_count = static_cast<double>(blocks.size());
  Coverage coverage;
  for (int run = 0; run < runs; ++run) {
    HeapSums sums;
    for (const uint64_t size : blocks) {
      const double weight = weights.WeightOf(number, size);
      if (std::bernoulli_distribution(1 / weight)(random)) {
        sums.Add(size, weight);
      }
    }
    const auto covers = [](double truth, double shown, double error,
                           double more) {
      return truth >= shown - 2 * error && truth <= shown + 2 * error + more;
    };
    coverage.counts +=
        covers(true_count, sums.count, sums.CountError(), unseen.count);
    coverage.counts_by_error_alone +=
        covers(true_count, sums.count, sums.CountError(), 0);
    coverage.bytes +=
        covers(true_bytes, sums.bytes, sums.BytesError(), unseen.bytes);
  }
  return coverage;
}

std::vector<uint64_t> Blocks(uint64_t count, uint64_t size,
                             uint64_t other_size) {
  std::vector<uint64_t> blocks(count, size);
  blocks.insert(blocks.end(), count, other_size);
  return blocks;
}

// As objects with a large buffer are: bytearray(300_000).
TEST(HeapCountsTest, ObjectsBesideTheirBuffersAreNotDenied) {
  const HeapRates rates = ClassRates({{128, 1e-4}, {8192, 0.1}});
  const Coverage coverage = Simulate(rates, Blocks(30, 57, 300001), 2000);
  EXPECT_GE(coverage.counts, 1900);
  EXPECT_GE(coverage.bytes, 1900);
  EXPECT_LT(coverage.counts_by_error_alone, 100);  // what an error of 0 says
}

// 950 of 1,000 runs should be right. kLeast allows four standard deviations.
TEST(HeapCountsTest, WhatIsSaidIsRightInNineteenOfTwentyRuns) {
  constexpr int kRuns = 1000, kLeast = 922;
  for (const HeapRates& rates :
       {MeanRates(512 << 10), MeanRates(1000), MeanRates(64),
        ClassRates({{128, 1e-4}, {8192, 0.1}}), ClassRates({{64, 0.02}})}) {
    for (const auto& blocks : {Blocks(30, 57, 300001), Blocks(500, 32, 5000),
                               Blocks(5, 16, 100), Blocks(2000, 100, 600)}) {
      const Coverage coverage = Simulate(rates, blocks, kRuns);
      EXPECT_GE(coverage.counts, kLeast) << rates.mean_bytes();
      EXPECT_GE(coverage.bytes, kLeast) << rates.mean_bytes();
    }
  }
}

TEST(HeapCountsTest, WhatIsUnseenFollowsFromTheRates) {
  const HeapUnseen mean = UnseenAt(MeanRates(1000));
  EXPECT_NEAR(mean.bytes, 2995.7, 0.1);
  EXPECT_NEAR(mean.count, 2995.7, 0.1);
  const HeapUnseen classes = UnseenAt(ClassRates({{128, 1e-4}, {8192, 0.1}}));
  EXPECT_NEAR(classes.count, 29956, 1);
  EXPECT_NEAR(classes.bytes, 29956 * 127.0, 127);
  EXPECT_TRUE(std::isinf(UnseenAt(ClassRates({{128, 0}})).count));
  EXPECT_EQ(UnseenAt(ClassRates({{128, 0.99}})).count, 0);
  EXPECT_EQ(UnseenAt(HeapRates()).count, 0);
}

std::string ShownCounts(uint64_t mean_bytes, std::vector<std::string> options) {
  HeapRun run;
  run.mode = mean_bytes == 0 ? HEAP_ALL : HEAP_SAMPLED;
  run.mean_bytes = mean_bytes;
  TempFile file(run.Build());
  options.insert(options.begin() + 1, file.path());
  return Report(options).out;
}

TEST(HeapCountsTest, CountsThatMayBeTooSmallSaySo) {
  // The true count may be below an estimate: that is no lower bound.
  for (const char* command : {"heap", "snapshot"}) {
    const std::string text = ShownCounts(1000, {command});
    EXPECT_THAT(text, HasSubstr(" in about ")) << command;
    EXPECT_THAT(text, Not(HasSubstr(" at least "))) << command;
    EXPECT_THAT(text, Not(HasSubstr(">= "))) << command;
  }
  EXPECT_THAT(ShownCounts(1000, {"heap"}),
              HasSubstr("\na line may hold up to 2.9 KiB more in small blocks "
                        "that were not sampled (95 %)\n"));
  EXPECT_THAT(ShownCounts(1000, {"flame"}), HasSubstr(" in about "));
  for (const char* command : {"heap", "snapshot", "flame"}) {
    EXPECT_THAT(ShownCounts(0, {command}), Not(HasSubstr(" about ")));
  }
}

// Blocks of 1 MiB are recorded always, small ones beside them one in 10,000.
TEST(HeapCountsTest, CountsThatMayMissMostBlocksAreNotInTheTable) {
  StringSink sink;
  RunBuilder builder(&sink);
  Header header = RunBuilder::DefaultHeader();
  header.set_heap(HEAP_SAMPLED);
  builder.AddHeader(header);
  builder.AddThread("MainThread", 4711);
  Record rates;
  *rates.mutable_heap_rates() = ClassRates({{128, 1e-4}});
  builder.AddRecord(rates);
  const uint32_t stack =
      builder.AddStack(0, builder.AddCode("/job.py", "f", 1), 2);
  builder.AddHeap(AllocEvents(1000, 0x100000, 3, 1 << 20, stack));
  builder.Flush();
  TempFile file(sink.contents());
  const std::string text = Report({"heap", file.path()}).out;
  EXPECT_THAT(text, HasSubstr("live 3.0 MiB in at least 3 blocks at "));
  EXPECT_THAT(text, Not(HasSubstr(">= ")));
  EXPECT_THAT(Report({"heap", file.path(), "--at", "0.0001"}).out,
              HasSubstr("live 0 bytes in 0 blocks"));
}

TEST(HeapCountsTest, MachinesGetTheBoundBesideTheEstimate) {
  for (const char* command : {"heap", "snapshot"}) {
    const auto rows =
        nlohmann::json::parse(ShownCounts(1000, {command, "--json"}));
    EXPECT_TRUE(rows[0]["live_count"].is_number_unsigned());
    EXPECT_EQ(rows[0]["unseen_count"], 2996) << command;
    EXPECT_EQ(rows[0]["unseen_bytes"], 2996) << command;
  }
  const auto exact = nlohmann::json::parse(ShownCounts(0, {"heap", "--json"}));
  EXPECT_FALSE(exact[0].contains("unseen_count"));
}

}  // namespace
}  // namespace pymemrun
