// Items of the side ring, to what readers see.
#include "collector/tasks/task_collector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "collector/ring/side_ring_fixture.h"
#include "format/records/record_decoder.h"
#include "tracer/wire/region_for_tests.h"

namespace pymemrun {
namespace {

using testing::ElementsAre;

constexpr uint64_t kStart = 1000000000;

class TaskOutput final : public RecordSink, public RecordVisitor {
 public:
  using RecordSink::Write;
  void Write(absl::string_view bytes, RowCounts) override {
    const absl::Status status = decoder_.Decode(bytes);
    EXPECT_TRUE(status.ok()) << status;
  }
  void OnCode(const CodeDef& def) override { codes.push_back(def.name()); }
  void OnStack(const StackDef& def) override {
    const std::string outer =
        def.parent() == 0 ? "" : absl::StrCat(stacks[def.parent()], ";");
    stacks.push_back(absl::StrCat(outer, codes[def.code()]));
  }
  void OnThread(const ThreadDef& def) override {
    threads.push_back(def.native_id());
  }
  void OnTask(const TaskDef& def) override {
    lines.push_back(absl::StrCat("task ", def.task(), " ", def.name(), " ",
                                 stacks[def.stack()]));
  }
  void OnTaskRecording(const TaskRecording& recording) override {
    lines.push_back(absl::StrCat("lost ", recording.lost()));
  }
  bool OnTasks(const TaskEvent* events, size_t count) override {
    for (size_t i = 0; i < count; ++i) {
      const TaskEvent& event = events[i];
      const bool main =
          threads[event.thread] == static_cast<uint64_t>(getpid());
      lines.push_back(
          absl::StrCat(TaskAction_Name(event.action).substr(5), " ", event.task,
                       " ", main ? "main" : absl::StrCat(threads[event.thread]),
                       " ", event.begin_ns(), "-", event.time_ns, " ",
                       event.grown_bytes, " ", stacks[event.stack]));
    }
    return true;
  }

  std::vector<std::string> codes = {""}, stacks = {""}, lines;
  std::vector<uint64_t> threads = {0};

 private:
  RecordDecoder decoder_{this};
};

class TaskCollectorTest : public testing::Test {
 protected:
  void SetUp() override {
    clock_.Start(false, {0, kStart}, {});
    Record header;
    header.mutable_header()->set_format_version(1);
    out_.Write(header);
    side_ = std::make_unique<SideItems>(region_.page(), region_.reply(),
                                        getpid(), &definitions_, &out_);
    tasks_ = std::make_unique<TaskCollector>(
        TaskCollector::Options{{region_.page(), getpid(), 4096, &clock_,
                                &definitions_, side_.get(), &out_},
                               /*most_tasks=*/3});
    tasks_->Describe(/*start_ns=*/0);
    side_->Start();
    producer_.Code(1, "a.py", "work", 1);
    producer_.Code(2, "b.py", "sleep", 1);
  }
  void Name(uint64_t address, uint64_t coroutine, const std::string& name,
            SideTaskKind kind = SideTaskKind::kTask) {
    SideTask head;
    head.kind = SideKind::kTask;
    head.thread = Main();
    head.time_ns = kStart;
    head.task = address;
    head.coroutine = coroutine;
    head.task_kind = static_cast<uint64_t>(kind);
    head.detail = SideHead::Detail(/*frames=*/1, name.size());
    head.frame = {1, 0};
    producer_.Push(head, name);
  }
  void Step(TaskNote note, uint64_t address, uint64_t begin, uint64_t end,
            int64_t grown = 0, uint32_t thread = Main()) {
    SideTaskStep head;
    head.kind = SideKind::kTaskStep;
    head.thread = thread;
    head.time_ns = kStart + end;
    head.task = address;
    head.begin = kStart + begin;
    head.grown_bytes = static_cast<uint64_t>(grown);
    head.detail = static_cast<uint32_t>(note) << 16;
    std::string outer;
    if (note != TaskNote::kDone) {
      head.detail |= 2;
      head.frame = {2, 0};
      const SideFrame work = {1, 0};
      outer.assign(reinterpret_cast<const char*>(&work), sizeof(work));
    }
    producer_.Push(head, outer);
  }
  void Round(uint64_t looked_ns) {
    side_->Drain(looked_ns, false);
    tasks_->Round(looked_ns);
  }
  std::vector<std::string> Finish() {
    side_->Drain(kStart + 5000, true);
    tasks_->Finish(kStart + 5000, /*process_lives=*/false);
    return out_.lines;
  }
  static uint32_t Main() { return static_cast<uint32_t>(getpid()); }

  TestRegion region_;
  SideProducer producer_{region_.page(), region_.cells()};
  ClockScale clock_;
  TaskOutput out_;
  DefinitionTable definitions_{&clock_, &out_};
  std::unique_ptr<SideItems> side_;
  std::unique_ptr<TaskCollector> tasks_;
};

TEST_F(TaskCollectorTest, ItemsBecomeEntries) {
  Name(0x10, 0x100, "Task-1");
  Step(TaskNote::kBlocked, 0x10, 120, 180, 99);
  Step(TaskNote::kWaits, 0x10, 100, 200, 4096);
  Step(TaskNote::kDone, 0x10, 300, 400, -4096);
  EXPECT_THAT(Finish(), ElementsAre("lost 0", "task 1 Task-1 work",
                                    "BLOCKED 1 main 120-180 0 work;sleep",
                                    "WAITS 1 main 100-200 4096 work;sleep",
                                    "DONE 1 main 300-400 -4096 "));
}

TEST_F(TaskCollectorTest, AnAddressMayBecomeAnotherTasks) {
  Name(0x10, 0x100, "a");
  Step(TaskNote::kDone, 0x10, 100, 200);
  Name(0x10, 0x100, "a");  // the former is done
  Step(TaskNote::kWaits, 0x10, 300, 400);
  Name(0x10, 0x200, "c");  // the former was dropped while it waited
  Step(TaskNote::kWaits, 0x10, 500, 600);
  EXPECT_THAT(Finish(), ElementsAre("lost 0", "task 1 a work", "task 2 a work",
                                    "task 3 c work", "DONE 1 main 100-200 0 ",
                                    "WAITS 2 main 300-400 0 work;sleep",
                                    "WAITS 3 main 500-600 0 work;sleep"));
}

TEST_F(TaskCollectorTest, ANewNameIsTheSameTask) {
  Name(0x10, 0x100, "Task-1");
  Name(0x10, 0x100, "Task-1");  // told again
  Name(0x10, 0x100, "reader");
  EXPECT_THAT(Finish(), ElementsAre("lost 0", "task 1 Task-1 work",
                                    "task 1 reader work"));
}

TEST_F(TaskCollectorTest, GreenletsAreCalledByTheirNumbers) {
  Name(0x10, 0, "", SideTaskKind::kGreenlet);
  Name(0x10, 0, "", SideTaskKind::kGreenlet);  // told again
  Step(TaskNote::kDone, 0x10, 100, 200);
  Name(0x10, 0, "", SideTaskKind::kGreenlet);
  EXPECT_THAT(Finish(),
              ElementsAre("lost 0", "task 1 greenlet-1 work",
                          "task 2 greenlet-2 work", "DONE 1 main 100-200 0 "));
}

TEST_F(TaskCollectorTest, HoweverATaskEndsItsAddressIsFree) {
  for (const TaskNote note :
       {TaskNote::kRaised, TaskNote::kCancelled, TaskNote::kDone}) {
    Step(note, 0x10, 100, 200);
  }
  EXPECT_THAT(Finish(), ElementsAre("lost 0", "RAISED 1 main 100-200 0 ",
                                    "CANCELLED 2 main 100-200 0 ",
                                    "DONE 3 main 100-200 0 "));
}

TEST_F(TaskCollectorTest, AStepWithoutANameHasATask) {
  Step(TaskNote::kDone, 0x10, 100, 200);
  EXPECT_THAT(Finish(), ElementsAre("lost 0", "DONE 1 main 100-200 0 "));
}

TEST_F(TaskCollectorTest, WhatMakesNoSenseOrIsTooMuchIsCountedAsLost) {
  Step(static_cast<TaskNote>(9), 0x10, 100, 200);
  Step(static_cast<TaskNote>(3), 0x10, 100, 200);  // TASK_RUNS
  for (uint64_t i = 1; i <= 4; ++i) Name(i, 100 + i, "");
  EXPECT_THAT(Finish(), ElementsAre("lost 0", "task 1  work", "task 2  work",
                                    "task 3  work", "lost 3"));
}

TEST_F(TaskCollectorTest, TimesThatCannotBeAreCut) {
  // An end that is to come, and before its start; the step before the run.
  Step(TaskNote::kDone, 0x10, uint64_t{1} << 60, uint64_t{1} << 61);
  Step(TaskNote::kDone, 0x20, ~uint64_t{0} - kStart + 1, 10);
  const std::vector<std::string> lines = Finish();
  ASSERT_EQ(lines.size(), 3u);  // and each was decoded
}

TEST_F(TaskCollectorTest, AStepUnderWayIsReadFromTheControlPage) {
  Name(0x10, 0x100, "Task-1");
  TaskNow& now = region_.page()->tasks[3];
  now.thread = Main();
  now.task = 0x10;
  now.since = kStart + 1000;
  EXPECT_THAT(Finish(), ElementsAre("lost 0", "task 1 Task-1 work",
                                    "RUNS 1 main 1000-5000 0 "));
}

TEST_F(TaskCollectorTest, AStepWaitsForTheNameOfItsThread) {
  Step(TaskNote::kDone, 0x10, 100, 200, 0, 77);
  Round(kStart + 1000);
  tasks_->EndBatch(kStart + 1000);
  EXPECT_THAT(out_.lines, ElementsAre("lost 0"));
  Round(kStart + uint64_t{3600} * 1000000000);
  tasks_->EndBatch(kStart + 1000);
  EXPECT_THAT(out_.lines, ElementsAre("lost 0", "DONE 1 77 100-200 0 "));
}

}  // namespace
}  // namespace pymemrun
