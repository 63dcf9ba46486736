#include "readers/objects/blocks/load_allocations.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/objects/graph/dump_loader.h"
#include "readers/objects/graph/node_filter.h"
#include "readers/testing/heap_run_for_tests.h"
#include "readers/testing/object_run_builder.h"
#include "readers/testing/temp_folder.h"

namespace pymemrun {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A dump beside a HeapRun: two objects of line 5, behind 16 bytes of head, one
// of line 6, which is freed at 5 ms, and one of no block that is known.
class LoadAllocationsTest : public testing::Test {
 protected:
  LoadAllocationsTest() {
    builder_.SetHead("app.Node", 16);
    const uint32_t group = builder_.AddGroup("modules");
    for (const uint64_t address : {0x100010, 0x101010}) {
      nodes_.push_back(builder_.Add("app.Node", 64));
      builder_.node(nodes_.back()).address = address;
    }
    for (const uint64_t address : {0x200000, 0x777000}) {
      nodes_.push_back(builder_.Add("str", 64));
      builder_.node(nodes_.back()).address = address;
    }
    for (const uint32_t node : nodes_) {
      builder_.Refer(group, node, EDGE_ROOT, "x");
    }
    builder_.begin().set_time_us(4000);
  }
  std::string Write(const std::string& name, const std::string& contents) {
    return folder_.Write(name, contents);
  }
  // Loads the dump and what is known of it.
  AllocationsRead Load(const std::string& run = "") {
    const std::string path = Write("run.obj.pb", builder_.Write());
    graph_ = *LoadObjectFile(path);
    AllocationsRead read = LoadAllocations(path, run, nullptr, *graph_);
    graph_->TakeAllocations(std::move(read.allocations));
    return read;
  }
  // The line of each object; empty where it is not known.
  std::vector<std::string> Lines() {
    std::vector<std::string> lines;
    for (const uint32_t node : nodes_) {
      const NodeId at = graph_->Find(builder_.AddressOf(node));
      lines.push_back(
          graph_->allocations()->LineText(graph_->allocations()->LineOf(at)));
    }
    return lines;
  }

  TempFolder folder_;
  ObjectRunBuilder builder_;
  std::vector<uint32_t> nodes_;
  std::unique_ptr<ObjectGraph> graph_;
};

TEST_F(LoadAllocationsTest, ObjectsGetTheAllocationOfTheirBlocks) {
  Write("run.pb", HeapRun().Build());
  const AllocationsRead read = Load();
  ASSERT_TRUE(read.status.ok()) << read.status;
  EXPECT_THAT(Lines(), ElementsAre("/job.py:5 load", "/job.py:5 load",
                                   "/job.py:6 load", ""));
  const NodeAllocations& known = *graph_->allocations();
  EXPECT_FALSE(known.sampled());
  const auto second = known.Of(graph_->Find(0x101010));
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->stack, HeapRun::kFive);
  EXPECT_EQ(second->time_us, 1001);
  EXPECT_EQ(known.index().LatestThreadLabel(second->thread), "MainThread#4711");
  const auto third = known.Of(graph_->Find(0x200000));
  EXPECT_EQ(known.index().LatestThreadLabel(third->thread), "worker#4712");
  EXPECT_FALSE(known.Of(graph_->Find(0x777000)).has_value());
}

// CPython uses blocks of lists again, but not those of their items. A small
// table of a dictionary is used again, too.
TEST_F(LoadAllocationsTest, AReusedBlockIsNotSure) {
  Write("run.pb", HeapRun().Build());
  const auto add = [this](const std::string& type, uint64_t address,
                          uint64_t beside, uint64_t bytes) {
    nodes_.push_back(builder_.Add(type, 56 + bytes));
    ObjectNode& node = builder_.node(nodes_.back());
    node.address = address;
    node.beside = beside;
    node.beside_bytes = bytes;
    builder_.Refer(nodes_[0], nodes_.back(), EDGE_OTHER);
  };
  add("list", 0x102000, 0, 0);
  add("list", 0x102000 + 4096, 0x201000, 80);
  add("dict", 0x104000, 0x202000, 168);
  add("dict", 0x105000, 0x203000, 232);
  add("bytearray", 0x888000, 0x204000, 999);
  ASSERT_TRUE(Load().status.ok());
  EXPECT_THAT(Lines(), ElementsAre("/job.py:5 load", "/job.py:5 load",
                                   "/job.py:6 load", "", "/job.py:5 load",
                                   "/job.py:6 load", "/job.py:5 load",
                                   "/job.py:6 load", "/job.py:6 load"));
  std::string sure;
  for (const uint32_t node : nodes_) {
    const NodeId at = graph_->Find(builder_.AddressOf(node));
    sure += graph_->allocations()->SureLineOf(at) != 0 ? '1' : '0';
  }
  EXPECT_EQ(sure, "111001011");
}

TEST_F(LoadAllocationsTest, TheMomentIsTheDumps) {
  Write("run.pb", HeapRun().Build());
  builder_.begin().set_time_us(1000);  // of the first block, and no later
  ASSERT_TRUE(Load().status.ok());
  EXPECT_THAT(Lines(), ElementsAre("/job.py:5 load", "", "", ""));
  builder_.begin().set_time_us(5000);
  ASSERT_TRUE(Load().status.ok());
  EXPECT_THAT(Lines(), ElementsAre("/job.py:5 load", "/job.py:5 load", "", ""));
}

TEST_F(LoadAllocationsTest, ABlockThatIsUsedAgainHasItsLastAllocation) {
  HeapRun run;
  Write("run.pb", run.Build());
  builder_.node(nodes_[3]).address = 0x400000;  // thrice, and freed each time
  builder_.begin().set_time_us(9000);
  ASSERT_TRUE(Load().status.ok());
  EXPECT_EQ(Lines()[3], "");
}

TEST_F(LoadAllocationsTest, WithoutARunFileItSaysWhy) {
  EXPECT_EQ(Load().status.message(),
            "there is no " + folder_.path() + "/run.pb");
  EXPECT_EQ(graph_->allocations(), nullptr);
  EXPECT_THAT(Load(folder_.path() + "/other.pb").status.message(),
              HasSubstr("there is no " + folder_.path() + "/other.pb"));
}

TEST_F(LoadAllocationsTest, InLongRunsTimesAreWithinABillionth) {
  Write("run.pb", HeapRun().Build());
  constexpr uint64_t kDayUs = uint64_t{24} * 3600 * 1000 * 1000;
  builder_.begin().set_time_us(kDayUs);
  ASSERT_TRUE(Load().status.ok());
  const auto second = graph_->allocations()->Of(graph_->Find(0x101010));
  ASSERT_TRUE(second.has_value());
  ASSERT_TRUE(second->time_us.has_value());
  EXPECT_NEAR(static_cast<double>(*second->time_us), 1001, kDayUs / 1e9);
}

TEST_F(LoadAllocationsTest, OtherProcessesTellNothing) {
  Write("run.pb", HeapRun().Build());
  builder_.header().set_process_start_ticks(5);
  EXPECT_EQ(Load().status.message(),
            folder_.path() + "/run.pb is of another process");
  builder_.header().set_process_start_ticks(0);
  builder_.header().set_pid(1);
  EXPECT_EQ(Load().status.message(),
            folder_.path() + "/run.pb is of another process");
}

TEST_F(LoadAllocationsTest, RunsWithoutHeapEventsTellNothing) {
  StringSink sink;
  RunBuilder builder(&sink);
  builder.AddHeader(RunBuilder::DefaultHeader());
  builder.Flush();
  Write("run.pb", sink.contents());
  EXPECT_THAT(Load().status.message(), HasSubstr("has no heap events"));
  Write("run.pb", "no run");
  EXPECT_FALSE(Load().status.ok());
}

TEST_F(LoadAllocationsTest, SampledRunsAreKnownAsSuch) {
  HeapRun run;
  run.mode = HEAP_SAMPLED;
  run.mean_bytes = 4096;
  const std::string path = Write("other.pb", run.Build());
  ASSERT_TRUE(Load(path).status.ok());
  EXPECT_TRUE(graph_->allocations()->sampled());
}

TEST_F(LoadAllocationsTest, LinesChooseObjects) {
  Write("run.pb", HeapRun().Build());
  ASSERT_TRUE(Load().status.ok());
  const auto count = [this](const std::string& condition) {
    NodeFilter filter;
    EXPECT_TRUE(filter.Add(condition).ok());
    EXPECT_TRUE(filter.has_line());
    int matches = 0;
    for (NodeId node = 0; node < graph_->nodes(); ++node) {
      matches += filter.Matches(*graph_, node);
    }
    return matches;
  };
  EXPECT_EQ(count("line=job.py:5"), 2);
  EXPECT_EQ(count("line=/job.py:5"), 2);
  EXPECT_EQ(count("line=job.py:*"), 3);
  EXPECT_EQ(count("line!=job.py:5"), 1);  // what is not known is not unlike it
  EXPECT_EQ(count("line=ob.py:5"), 0);
}

TEST_F(LoadAllocationsTest, OfDamagedRunsItSaysWhyOrWhatIsKnown) {
  const std::string run = HeapRun().Build();
  const auto check = [this](const std::string& contents) {
    Write("run.pb", contents);
    const AllocationsRead read = Load();
    EXPECT_EQ(read.status.ok(), graph_->allocations() != nullptr);
    EXPECT_EQ(read.status.ok(), read.status.message().empty());
  };
  for (size_t i = 0; i < run.size(); i += 3) {
    std::string damaged = run;
    damaged[i] = static_cast<char>(damaged[i] ^ (i % 2 == 0 ? 0xff : 0x01));
    check(damaged);
    check(run.substr(0, i));
  }
  check(run);
  EXPECT_EQ(Lines()[0], "/job.py:5 load");
}

TEST_F(LoadAllocationsTest, TheLastDumpHasTheHighestNumber) {
  EXPECT_EQ(LastDumpOf(folder_.path() + "/run.pb"), "");
  for (const char* name : {"run.obj.pb", "run.obj-2.pb", "run.obj-10.pb",
                           "other.obj-11.pb", "run.pb", "run.obj-10.pb.csv"}) {
    Write(name, "");
  }
  EXPECT_EQ(LastDumpOf(folder_.path() + "/run.pb"),
            folder_.path() + "/run.obj-10.pb");
  EXPECT_EQ(LastDumpOf("/nowhere/run.pb"), "");
}

TEST_F(LoadAllocationsTest, ARunFileNeedsNoEnding) {
  const std::string run = folder_.path() + "/noext";
  EXPECT_EQ(RunFileOf(run + ".obj.pb"), run + ".pb");
  Write("noext", "");
  Write("noext.obj.pb", "");
  Write("noext.obj-1.pb", "");
  EXPECT_EQ(RunFileOf(run + ".obj-1.pb"), run);
  EXPECT_EQ(LastDumpOf(run), run + ".obj-1.pb");
  Write("noext.pb", "");
  EXPECT_EQ(RunFileOf(run + ".obj.pb"), run + ".pb");
}

TEST(RunFileOf, NamesTheRunOfADump) {
  EXPECT_EQ(RunFileOf("run.obj.pb"), "run.pb");
  EXPECT_EQ(RunFileOf("a/run.obj-12.pb"), "a/run.pb");
  EXPECT_EQ(RunFileOf("a/run.4711.obj.pb"), "a/run.4711.pb");
  EXPECT_EQ(RunFileOf("a/mine.pb"), "");
  EXPECT_EQ(RunFileOf("run.obj-.pb"), "");
  EXPECT_EQ(RunFileOf("a/.obj.pb"), "");
  EXPECT_EQ(RunFileOf("-"), "");
  EXPECT_EQ(RunFileOf("old.json"), "");
}

}  // namespace
}  // namespace pymemrun
