#include <map>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/answer/memory/answer_run_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;

using Values = std::map<std::string, int64_t>;  // by column

// The row of the CSV at that moment; empty where no row has it.
Values At(const std::string& run, const std::string& time_s,
          std::vector<std::string> options = {}) {
  const TempFile file(run);
  options.insert(options.begin(), {"timeline", "--format", "csv", file.path()});
  const Printed printed = Report(options);
  EXPECT_EQ(printed.code, 0) << printed.err;
  const std::vector<std::string> lines = CsvLines(printed);
  const std::vector<std::string> names = absl::StrSplit(lines[0], ',');
  Values values;

  for (const std::string& line : lines) {
    const std::vector<std::string> cells = absl::StrSplit(line, ',');
    if (cells[0] != time_s) continue;
    for (size_t i = 1; i < cells.size(); ++i) {
      EXPECT_TRUE(absl::SimpleAtoi(cells[i], &values[names[i]])) << line;
    }
  }
  return values;
}

// Line 4 touched 14 MiB, and has a block of 8 in them.
TEST(HeldTimelineTest, MemoryIsChargedAsInTheAnswer) {
  const Values held = At(AnswerRun().Build(), "4.025000");
  EXPECT_EQ(held, (Values{{"rss_bytes", 60 * kMiB},
                          {"/src/job.py:3", 40 * kMiB},
                          {"/src/job.py:4", 8 * kMiB},
                          {"/src/job.py:5", 2 * kMiB},
                          {"other places", 0},
                          {"free memory", 6 * kMiB},
                          {"<tracing itself>", kMiB},
                          {"<before tracing>", 3 * kMiB},
                          {"unattributed", 0}}));
}

// A batch is read in pieces: none is passed over.
TEST(HeldTimelineTest, SoItIsWhereABatchIsLong) {
  AnswerRun run;
  for (int i = 0; i < 20000; ++i) {
    run.later.push_back(AllocEvent(2000002, 8 * kStart, 64, /*stack=*/1));
    run.later.push_back(FreeEvent(2000002, 8 * kStart));
  }
  EXPECT_EQ(At(run.Build(), "4.025000"), At(AnswerRun().Build(), "4.025000"));
}

// Blocks are in pages from before tracing: these are the blocks' line's.
TEST(HeldTimelineTest, WhatWasThereBeforeIsOneFigureEverywhere) {
  for (const uint64_t blocks : {0, 200}) {
    AnswerRun run;
    run.before_blocks = blocks;
    const TempFile file(run.Build());
    const int64_t before =
        nlohmann::json::parse(Report({"report", "--json", file.path()})
                                  .out)["peak"]["parts"]["before_tracing"];
    EXPECT_EQ(before, static_cast<int64_t>(3 * kMiB - blocks * kPage));
    EXPECT_EQ(At(run.Build(), "4.025000").at("<before tracing>"), before);
    bool found = false;
    for (const auto& row : nlohmann::json::parse(
             Report({"resident", file.path(), "--owner", "heap", "--json"})
                 .out)) {
      if (row["file"] != "<before tracing>") continue;
      found = true;
      EXPECT_EQ(row["resident_bytes"], before);
    }
    EXPECT_TRUE(found);
  }
}

TEST(HeldTimelineTest, FirstTouchIsShownWhereItIsAskedFor) {
  const Values touched =
      At(AnswerRun().Build(), "4.025000", {"--owner", "touch"});
  EXPECT_EQ(touched.at("/src/job.py:4 <module>"), 14 * kMiB);
  EXPECT_EQ(touched.at("<before tracing>"), 3 * kMiB);
  EXPECT_EQ(touched.at("<tracing itself>"), kMiB);
  EXPECT_THAT(touched, Not(Contains(Key("free memory"))));
  AnswerRun without;
  without.heap = false;
  EXPECT_EQ(At(without.Build(), "4.025000"), touched);
  const TempFile file(without.Build());
  const Printed refused = Report({"timeline", "--owner", "heap", file.path()});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("has no heap events"));
}

TEST(HeldTimelineTest, ThreadsHaveWhatTheyHold) {
  const std::string run = AnswerRun().Build();
  EXPECT_EQ(At(run, "4.025000", {"--by", "thread"}).at("MainThread#4711"),
            50 * kMiB);
  const TempFile file(run);
  EXPECT_EQ(
      Report({"timeline", "--format", "csv", "--thread", "none", file.path()})
          .code,
      2);
}

// Page faults were refused: who touched pages is unknown. Line 2's block goes
// between the scans.
TEST(HeldTimelineTest, LinesAreThereWherePagesWereScanned) {
  constexpr uint64_t kPages = 8 * kMiB / kPage;
  StringSink sink;
  RunBuilder builder(&sink);
  Header header = RunBuilder::DefaultHeader();
  header.set_page_scan(true);
  header.set_heap(HEAP_ALL);
  header.set_first_rss_bytes(kMiB);
  builder.AddHeader(header);
  builder.AddThread("MainThread", 1);
  const uint32_t code = builder.AddCode("/job.py", "f", 1);
  const uint32_t two = builder.AddStack(0, code, 2);
  const uint32_t three = builder.AddStack(0, code, 3);
  const uint32_t heap = builder.AddMapping("[heap]");
  builder.AddResidency(0, 10, kMiB, {{100, 256, heap, false, false}});
  builder.AddHeap({AllocEvent(1000, kStart, 4 * kMiB, two),
                   AllocEvent(1001, kStart + 4 * kMiB, 4 * kMiB, three)});
  const std::vector<ResidentRange> all = {
      {100, 256, heap, false, false},
      {kStart / kPage, kPages, heap, false, false}};
  builder.AddResidency(2000, 2001, 9 * kMiB, all);
  builder.AddHeap({FreeEvent(3000, kStart)});
  builder.AddResidency(4000, 4001, 9 * kMiB, all);
  Record record;
  record.mutable_footer()->set_end(Footer::EXIT);
  record.mutable_footer()->set_end_us(4001);
  builder.AddRecord(record);
  builder.Flush();
  const Values end = At(sink.contents(), "0.004001");
  EXPECT_EQ(end.at("/job.py:3"), 4 * kMiB);
  EXPECT_EQ(end.at("/job.py:2"), 0);
  EXPECT_EQ(end.at("free memory"), 4 * kMiB);
  EXPECT_EQ(end.at("<tracing itself>"), kMiB);
  const Values early = At(sink.contents(), "0.002500");
  EXPECT_EQ(early.at("/job.py:2"), 4 * kMiB);
}

}  // namespace
}  // namespace pymemrun
