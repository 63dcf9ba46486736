#include "readers/replay/heap/heap_history.h"

#include <map>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/report/pymemreport.h"
#include "readers/run/reread_file.h"
#include "readers/testing/heap_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"

namespace pymemrun {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Printed History(const std::string& path, std::vector<std::string> options) {
  options.insert(options.begin(), {"history", path});
  return RunProgram("pymemreport", [&](const Console& console) {
    return RunPymemreport(options, console);
  });
}

TEST(HeapHistoryTest, LiveBytesAtEachInterval) {
  TempFile file(HeapRun().Build());
  const Printed printed =
      History(file.path(), {"--csv", "--interval", "2ms", "--top", "1"});
  EXPECT_EQ(printed.err, "");
  EXPECT_EQ(printed.out,
            "time_s,live_bytes,/job.py:6 load,other places,<tracing "
            "itself>\r\n"
            "0.000000,0,0,0,0\r\n"
            "0.002000,2000,1000,1000,0\r\n"
            "0.004000,6120,5000,1120,400\r\n"
            "0.006000,2120,1000,1120,400\r\n"
            "0.008000,2120,1000,1120,400\r\n"
            "0.010000,2120,1000,1120,400\r\n");
}

TEST(HeapHistoryTest, ARangeOfTheRun) {
  TempFile file(HeapRun().Build());
  const Printed printed =
      History(file.path(), {"--csv", "--interval", "1ms", "--by", "thread",
                            "--from", "0.0035", "--to", "0.005"});
  EXPECT_EQ(printed.out,
            "time_s,live_bytes,worker#4712,MainThread#4711,other places,"
            "<tracing itself>\r\n"
            "0.003500,6120,5000,1120,0,400\r\n"
            "0.004500,6120,5000,1120,0,400\r\n"
            "0.005000,2120,1000,1120,0,400\r\n");
  const Printed late = History(file.path(), {"--from", "5"});
  EXPECT_EQ(late.code, 2);
  EXPECT_THAT(late.err, HasSubstr(": --from: 5.000 s is not before the "
                                  "run's end, 0.010 s\n"));
}

TEST(HeapHistoryTest, ByStack) {
  TempFile file(HeapRun().Build());
  const auto rows = nlohmann::json::parse(
      History(file.path(), {"--json", "--by", "stack"}).out);
  EXPECT_EQ(rows.back()["/job.py:9:<module>;/job.py:5:load"], 1000);
}

TEST(HeapHistoryTest, TextHasALegend) {
  TempFile file(HeapRun().Build());
  EXPECT_THAT(History(file.path(), {}).out,
              StartsWith("[1] /job.py:6 load, up to 4.9 KiB\n"
                         "[2] /job.py:5 load, up to 1000 bytes\n"));
}

TEST(HeapHistoryTest, Picture) {
  TempFile file(HeapRun().Build());
  const std::string svg = History(file.path(), {"--svg"}).out;
  EXPECT_THAT(svg, HasSubstr(">Live bytes of job.py</text>"));
  EXPECT_THAT(svg, HasSubstr("every allocation was recorded"));
  EXPECT_THAT(svg, HasSubstr("class=\"layer\""));
  EXPECT_THAT(svg, HasSubstr("</svg>\n"));
}

TEST(HeapHistoryTest, APictureOfARangeBeginsThere) {
  TempFile file(HeapRun().Build());
  const std::string svg =
      History(file.path(), {"--svg", "--from", "0.004", "--to", "0.008"}).out;
  EXPECT_THAT(svg, HasSubstr(">0.0040</text>"));
  EXPECT_THAT(svg, HasSubstr(">0.0080</text>"));
  EXPECT_THAT(svg, testing::Not(HasSubstr(">0.0020</text>")));
}

TEST(HeapHistoryTest, TooManyMomentsAreRefused) {
  StringSink sink;
  RunBuilder builder(&sink);
  BeginHeapRun(&builder);
  builder.AddStack(0, builder.AddCode("/job.py", "f", 1), 2);
  builder.AddHeap({AllocEvent(1, 16, 16, 1), AllocEvent(200000, 32, 16, 1)});
  builder.Flush();
  TempFile file(sink.contents());
  const Printed printed = History(file.path(), {"--interval", "1us"});
  EXPECT_EQ(printed.code, 2);
  EXPECT_THAT(
      printed.err,
      HasSubstr(
          "--interval: too many moments for this run; give a longer one"));
  EXPECT_EQ(History(file.path(), {"--interval", "1ms"}).code, 0);
}

// What is alive at a time, by stack.
std::map<uint32_t, double> NaiveLive(const std::vector<HeapEvent>& events,
                                     uint64_t time_us) {
  std::map<uint64_t, HeapEvent> blocks;
  for (const HeapEvent& event : events) {
    if (event.time_us > time_us) break;
    blocks.erase(event.address);
    if (!event.is_free) blocks[event.address] = event;
  }
  std::map<uint32_t, double> live;
  for (const auto& [address, block] : blocks) {
    live[block.stack] += static_cast<double>(block.size);
  }
  return live;
}

std::vector<HeapEvent> RandomEvents() {
  std::mt19937_64 random(5);
  std::vector<HeapEvent> events;
  uint64_t time_us = 0;
  for (int i = 0; i < 20000; ++i) {
    time_us += random() % 300;
    const uint64_t address = 16 * (random() % 500);
    if (random() % 2 == 0) {
      events.push_back(FreeEvent(time_us, address));
    } else {
      events.push_back(AllocEvent(time_us, address, random() % 3000,
                                  static_cast<uint32_t>(1 + random() % 4)));
    }
  }
  return events;
}

TEST(HeapHistoryTest, MomentsAreChosenAndAgreeWithANaiveModel) {
  const std::vector<HeapEvent> events = RandomEvents();
  HeapHistoryReplay replay({});
  CodeDef code;
  code.set_id(1);
  code.set_file("/job.py");
  replay.OnCode(code);
  for (uint32_t line = 1; line <= 4; ++line) {
    StackDef stack;
    stack.set_id(line);
    stack.set_code(1);
    stack.set_line(line);
    replay.OnStack(stack);
  }
  for (size_t i = 0; i < events.size(); i += 1000) {
    replay.OnHeap(&events[i], 1000);
  }
  replay.Finish();
  const Curves history = replay.Result({.top = 2});
  ASSERT_GE(history.time_us.size(), 60u);
  ASSERT_LE(history.time_us.size(), 122u);
  EXPECT_EQ(history.time_us.front(), 0u);
  EXPECT_EQ(history.time_us.back(), events.back().time_us);
  ASSERT_EQ(history.chosen.size(), 2u);
  for (size_t step = 0; step < history.time_us.size(); ++step) {
    auto live = NaiveLive(events, history.time_us[step]);
    double all = 0;
    for (const auto& [stack, bytes] : live) all += bytes;
    EXPECT_EQ(history.total.values[step], all);
    for (const auto& series : history.chosen) {
      EXPECT_EQ(series.values[step], live[series.place.line]);
      all -= series.values[step];
    }
    EXPECT_EQ(history.others.values[step], all);
  }
}

std::string FirstLine(const Printed& printed) {
  EXPECT_EQ(printed.code, 0) << printed.err;
  return printed.out.substr(0, printed.out.find("\r\n"));
}

TEST(HeapHistoryTest, OfOneThreadOrOfSomeFilesTheRestIsOther) {
  TempFile file(HeapRun().Build());
  const Printed thread = History(
      file.path(), {"--csv", "--interval", "2ms", "--thread", "worker"});
  EXPECT_EQ(FirstLine(thread),
            "time_s,live_bytes,/job.py:6 load,other places,<tracing itself>");
  EXPECT_THAT(thread.out, HasSubstr("\n0.004000,6120,5000,1120,400\r\n"));
  const Printed excluded = History(
      file.path(), {"--csv", "--interval", "2ms", "--exclude", "job.py"});
  EXPECT_EQ(FirstLine(excluded),
            "time_s,live_bytes,<frozen importlib._bootstrap>:101 _find,"
            "<interpreter>,other places,<tracing itself>");
  EXPECT_THAT(excluded.out, HasSubstr("\n0.004000,6120,70,50,6000,400\r\n"));
  const Printed wrong =
      History(file.path(), {"--by", "module", "--file", "job.py"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--file job.py needs --by line, "));
}

// 10 blocks of 1000 bytes that go, 4 that stay, 3 that come late.
TEST(HeapHistoryTest, SeriesInOtherOrders) {
  StringSink sink;
  RunBuilder builder(&sink);
  BeginHeapRun(&builder);
  const uint32_t code = builder.AddCode("/job.py", "f", 1);
  const uint32_t goes = builder.AddStack(0, code, 1);
  const uint32_t stays = builder.AddStack(0, code, 2);
  const uint32_t comes = builder.AddStack(0, code, 3);
  builder.AddHeap(AllocEvents(1000, 0x100000, 10, 1000, goes));
  builder.AddHeap(AllocEvents(1100, 0x200000, 4, 1000, stays));
  std::vector<HeapEvent> frees;
  for (uint64_t i = 0; i < 9; ++i) {
    frees.push_back(FreeEvent(5000, 0x100000 + i * 4096));
  }
  builder.AddHeap(frees);
  builder.AddHeap(AllocEvents(9000, 0x300000, 3, 1000, comes));
  builder.Flush();
  TempFile file(sink.contents());
  const auto order = [&file](const std::string& sort) {
    return FirstLine(History(file.path(), {"--csv", "--from", "0.002", "--top",
                                           "3", "--sort", sort}));
  };
  EXPECT_THAT(order("peak"),
              HasSubstr(",/job.py:1 f,/job.py:2 f,/job.py:3 f,"));
  EXPECT_THAT(order("end"), HasSubstr(",/job.py:2 f,/job.py:3 f,/job.py:1 f,"));
  EXPECT_THAT(order("growth"),
              HasSubstr(",/job.py:3 f,/job.py:2 f,/job.py:1 f,"));
  EXPECT_EQ(History(file.path(), {"--sort", "foo"}).code, 2);
}

// 512 bytes are recorded with p = 1/4: a block stands for four, with a variance
// of 512^2 * 12. One lives all the time, one goes, one comes, one comes and
// goes.
TEST(HeapHistoryTest, WhatWasThereAllTheTimeIsNoErrorOfTheGain) {
  StringSink sink;
  RunBuilder builder(&sink);
  Header header = RunBuilder::DefaultHeader();
  header.set_heap(HEAP_SAMPLED);
  builder.AddHeader(header);
  builder.AddThread("MainThread", 1);
  const uint32_t stack =
      builder.AddStack(0, builder.AddCode("/src/a.py", "f", 1), 3);
  Record record;
  HeapClass* const below = record.mutable_heap_rates()->add_classes();
  below->set_below_bytes(1024);
  below->set_probability(0.25);
  builder.AddRecord(record);
  builder.AddHeap(
      {AllocEvent(500, 0x1000, 512, stack), AllocEvent(600, 0x2000, 512, stack),
       FreeEvent(1500, 0x2000), AllocEvent(1600, 0x3000, 512, stack),
       AllocEvent(1700, 0x4000, 512, stack), FreeEvent(2500, 0x4000),
       AllocEvent(3500, 0x5000, 16, stack), FreeEvent(3600, 0x5000)});
  builder.Flush();
  TempFile file(sink.contents());
  HeapHistoryOptions options;
  options.interval_us = 1000;
  options.to_us = 3000;
  options.with_gain_variance = true;
  HeapHistoryReplay replay(options);
  const Console console{"test", nullptr};
  ASSERT_TRUE(RereadFile::Open(file.path(), console)->Read(&replay));
  const Curves history = replay.Result({.top = 1});
  ASSERT_EQ(history.chosen.size(), 1u);
  EXPECT_THAT(history.chosen[0].values, ElementsAre(0, 4096, 6144, 4096));
  constexpr double kOne = 512 * 512 * 12;
  EXPECT_THAT(history.chosen[0].gain_variance,
              ElementsAre(2 * kOne, VarianceOfGain(kOne, kOne), kOne, 0));
  EXPECT_EQ(VarianceOfGain(kOne, kOne), 4.5 * kOne);
}

}  // namespace
}  // namespace pymemrun
