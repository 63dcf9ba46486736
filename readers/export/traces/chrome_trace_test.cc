#include "readers/export/traces/chrome_trace.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/testing/call_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/small_run_for_tests.h"

namespace pymemrun {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

std::vector<json> OfKind(const json& trace, const std::string& kind) {
  std::vector<json> found;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == kind) found.push_back(event);
  }
  return found;
}

TEST(ChromeTraceTest, HasCallsThreadsAndCounters) {
  CallRun run;
  const Printed printed = Busy(&run).Report({"export", "--format", "chrome"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  const json trace = json::parse(printed.out);
  std::vector<std::string> slices;
  for (const json& event : OfKind(trace, "X")) {
    slices.push_back(absl::StrCat(
        event["tid"].get<int>(), " ", event["ts"].get<uint64_t>(), " ",
        event["dur"].get<uint64_t>(), " ", event["name"].get<std::string>(),
        " ", event["args"]["rss_growth_bytes"].get<int64_t>()));
  }
  EXPECT_THAT(slices, ElementsAre("4711 3000000 1000000 d 307200",
                                  "4712 2000000 4000000 c 614400",
                                  "4711 5000000 2000000 d 307200",
                                  "4711 1000000 7000000 b 768000",
                                  "4711 0 9000000 a 512000"));
  std::map<int, std::string> threads;
  for (const json& event : OfKind(trace, "M")) {
    if (event["name"] != "thread_name") continue;
    threads[event["tid"]] = event["args"]["name"];
  }
  EXPECT_EQ(threads, (std::map<int, std::string>{{4711, "MainThread"},
                                                 {4712, "Thread-6"}}));
  int64_t highest = 0;
  for (const json& event : OfKind(trace, "C")) {
    if (event["name"] != "RSS") continue;
    highest = std::max(highest, event["args"]["bytes"].get<int64_t>());
  }
  EXPECT_EQ(highest, 1750 * 1024);
}

TEST(ChromeTraceTest, MarksAreInstants) {
  TempFile file(SmallRun().Build());
  const Printed printed = Report({"export", file.path(), "--format", "chrome"});
  const std::vector<json> marks = OfKind(json::parse(printed.out), "i");
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(marks[0]["name"], "half");
  EXPECT_EQ(marks[0]["ts"], 250);
  EXPECT_EQ(marks[0]["s"], "t");
  EXPECT_THAT(printed.err,
              ::testing::HasSubstr(": it has no calls: pymemrun --min-drss 0 "
                                   "or --min-call-drss records how long calls "
                                   "took\n"));
}

class ChromeSlicesTest : public ::testing::Test {
 protected:
  ChromeSlicesTest() {
    trace_.SetProcess(RunBuilder::DefaultHeader());
    track_ = trace_.AddThread({1, 4711, "MainThread"});
    for (const char* name : {"a", "b", "c", "d"}) {
      SliceName made;
      made.name = name;
      names_.push_back(trace_.AddName(made));
    }
  }
  json Finished() {
    trace_.Finish();
    EXPECT_TRUE(output_.Flush().ok());
    return json::parse(sink_.contents());
  }
  std::string Order() {
    std::string order;
    for (const json& event : OfKind(Finished(), "X")) {
      order += event["name"].get<std::string>();
    }
    return order;
  }

  StringSink sink_;
  OutputBuffer output_{&sink_};
  ChromeTrace trace_{&output_};
  uint32_t track_ = 0;
  std::vector<uint32_t> names_;
};

TEST_F(ChromeSlicesTest, OuterSlicesComeBeforeThoseThatBeginWithThem) {
  trace_.Begin(track_, 5, names_[0]);
  trace_.Begin(track_, 5, names_[1]);
  trace_.Begin(track_, 5, names_[2]);
  trace_.End(track_, 9, {});
  trace_.End(track_, 9, {});
  trace_.Begin(track_, 9, names_[3]);
  trace_.End(track_, 12, {});
  trace_.End(track_, 12, {});
  EXPECT_EQ(Order(), "dabc");
}

// Viewers sort by the index, and then by the name.
TEST_F(ChromeSlicesTest, ALaneIsDirectlyBelowItsThread) {
  trace_.AddLane(0, "dumps");
  trace_.AddCounter("RSS", CounterUnit::kBytes);
  const uint32_t worker = trace_.AddThread({2, 4712, "worker"});
  trace_.AddThread({3, 4713, "other"});
  trace_.AddLane(worker, "GIL");
  trace_.AddLane(track_, "GIL");
  std::map<int64_t, std::string> names;
  std::set<std::pair<int, std::string>> sorted;
  const json trace = Finished();
  for (const json& event : OfKind(trace, "M")) {
    if (event["name"] == "thread_name") {
      names[event["tid"]] = event["args"]["name"];
    } else if (event["name"] == "thread_sort_index") {
      sorted.emplace(event["args"]["sort_index"], names[event["tid"]]);
    }
  }
  std::vector<std::string> order;
  for (const auto& [index, name] : sorted) order.push_back(name);
  EXPECT_THAT(order, ElementsAre("dumps", "MainThread", "MainThread: GIL",
                                 "worker", "worker: GIL", "other"));
}

TEST_F(ChromeSlicesTest, NamesMayBeAnyBytes) {
  SliceName name;
  name.name = "\"<b>\\\n\xff\xed\xb2\x80\xe2\x80\xae";
  name.file = "/a\"b.py";
  trace_.Begin(track_, 1, trace_.AddName(name));
  trace_.End(track_, 2, {});
  trace_.AddThread({2, 0, "\xff\"\r"});
  trace_.AddLane(track_, "GIL\"");
  trace_.Instant(0, 3, "\x01\"");
  const json trace = Finished();
  EXPECT_EQ(OfKind(trace, "X")[0]["args"]["file"], "/a\"b.py");
  EXPECT_EQ(OfKind(trace, "X")[0]["name"], "\"<b>\\\\x0a\\xff\\udc80\\u202e");
  std::vector<std::string> threads;
  for (const json& event : OfKind(trace, "M")) {
    if (event["name"] == "thread_name") {
      threads.push_back(event["args"]["name"]);
    }
  }
  EXPECT_THAT(threads,
              ElementsAre("MainThread", "\\xff\"\\x0d", "MainThread: GIL\""));
}

}  // namespace
}  // namespace pymemrun
