#include "collector/definitions/side_stacks.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "collector/ring/ring_fixture.h"
#include "collector/ring/side_ring_fixture.h"
#include "tracer/wire/region_for_tests.h"

namespace pymemrun {
namespace {

struct Definitions final : RecordSink {
  using RecordSink::Write;
  void Write(absl::string_view bytes, RowCounts) override {
    Record record;
    ASSERT_TRUE(record.ParseFromArray(bytes.data(), bytes.size()));
    if (record.has_code()) {
      EXPECT_EQ(record.code().id(), codes.size());
      codes.push_back(record.code());
    } else if (record.has_stack()) {
      EXPECT_EQ(record.stack().id(), stacks.size());
      EXPECT_LT(record.stack().parent(), stacks.size());
      EXPECT_LT(record.stack().code(), codes.size());
      stacks.push_back(record.stack());
    } else if (record.has_thread()) {
      EXPECT_EQ(record.thread().id(), threads.size());
      threads.push_back(record.thread());
    }
  }
  std::string Text(uint32_t stack) const {
    if (stack == 0) return "";
    const StackDef& def = stacks[stack];
    return absl::StrCat(Text(def.parent()), "/", codes[def.code()].name(), ":",
                        def.line());
  }
  std::vector<CodeDef> codes = {CodeDef()};
  std::vector<StackDef> stacks = {StackDef()};
  std::vector<ThreadDef> threads = {ThreadDef()};
};

class SideStacksTest : public testing::Test {
 protected:
  // The stack of the last kTouch, all before it taken in.
  std::string Take(bool is_main = false) {
    uint32_t stack = 0;
    reader_.Drain(0, false, [&](const SideItemView& item) {
      if (item.kind == SideKind::kCode) stacks_.Define(item);
      if (item.kind == SideKind::kCodeGone) {
        stacks_.Forget(item.As<SideCodeGone>().id);
      }
      if (item.kind == SideKind::kTouch) stack = stacks_.StackOf(item, is_main);
    });
    return out_.Text(stack);
  }

  TestRegion region_;
  SideProducer producer_{region_.page(), region_.cells()};
  SideReader reader_{region_.page(), region_.cells(), region_.reply(),
                     [](uint32_t) { return false; }};
  ClockScale clock_;
  Definitions out_;
  DefinitionTable definitions_{&clock_, &out_};
  SideStacks stacks_{&definitions_};
};

TEST_F(SideStacksTest, FramesBecomeNodesFromTheOutermostOn) {
  producer_.Code(11, "a.py", "main", 3);
  producer_.Code(12, "a.py", "work", 7);
  producer_.Touch(1, 1, 0, {{12, 0}, {12, 4}, {11, 2}});
  EXPECT_EQ(Take(), "/main:3/work:7/work:7");
  EXPECT_EQ(out_.codes[1].file(), "a.py");
  EXPECT_EQ(out_.codes[1].first_line(), 3u);
  // The same once more, and one with the same outer frames.
  producer_.Touch(1, 1, 0, {{12, 0}, {12, 4}, {11, 2}});
  EXPECT_EQ(Take(), "/main:3/work:7/work:7");
  producer_.Touch(1, 1, 0, {{11, 0}});
  EXPECT_EQ(Take(), "/main:3");
  EXPECT_EQ(out_.stacks.size(), 4u);
}

TEST_F(SideStacksTest, PositionsBecomeLines) {
  // Two location entries of 2 code units each: short, line +0; one line, +1.
  const std::string table("\x81\x00\xd9\x00\x00", 5);
  producer_.Code(11, "a.py", "f", 3, table);
  producer_.Touch(1, 1, 0, {{11, 0}});
  const std::string first = Take();
  producer_.Touch(1, 1, 0, {{11, 2}});
  const std::string second = Take();
  EXPECT_EQ(first, "/f:3");
  EXPECT_EQ(second, "/f:4");
}

TEST_F(SideStacksTest, WhoHasNoFrameIsSaid) {
  producer_.Touch(1, 1, 0, {}, kSideNoPython);
  EXPECT_EQ(Take(), "/<native thread>:0");
  producer_.Touch(1, 1, 0, {}, kSideNoPython);
  EXPECT_EQ(Take(/*is_main=*/true), "/<interpreter>:0");
  producer_.Touch(1, 1, 0, {});
  EXPECT_EQ(Take(), "/<interpreter>:0");
  producer_.Touch(1, 1, 0, {}, kSideUnknownFrame);
  EXPECT_EQ(Take(), "/<unknown>:0");
  producer_.Touch(1, 1, 0, {{0, 0}});
  EXPECT_EQ(Take(), "/<unknown>:0");
  EXPECT_TRUE(out_.codes[1].file().empty());
}

TEST_F(SideStacksTest, CutStacksHangBelowAMark) {
  producer_.Code(11, "a.py", "f", 3);
  producer_.Touch(1, 1, 0, {{11, 0}}, kSideCut);
  EXPECT_EQ(Take(), "/<deeper frames>:0/f:3");
  producer_.Touch(1, 1, 0, {{11, 0}}, kSideUnknownFrame);
  EXPECT_EQ(Take(), "/<unknown>:0/f:3");
  producer_.Touch(1, 1, 0, {{11, 0}});
  EXPECT_EQ(Take(), "/f:3");
}

TEST_F(SideStacksTest, CodeThatIsGoneFreesItsTable) {
  for (uint32_t id = 1; id < 2000; ++id) {
    producer_.Code(id, "a.py", "f", 3, std::string(1000, '\xd8'));
    producer_.Touch(1, 1, 0, {{id, 0}});
    producer_.Plain(SideKind::kCodeGone, 1, id);
    Take();
  }
  EXPECT_EQ(stacks_.text_bytes(), 0u);
  EXPECT_EQ(out_.codes.size(), 2u);  // alike: one in the file
  producer_.Touch(1, 1, 0, {{7, 99}});
  EXPECT_EQ(Take(), "/<unknown>:0");
}

TEST_F(SideStacksTest, ACodeObjectDefinedLaterIsNotUnknownForEver) {
  producer_.Touch(1, 1, 0, {{11, 0}});
  EXPECT_EQ(Take(), "/<unknown>:0");
  producer_.Code(11, "a.py", "f", 3);
  producer_.Touch(1, 1, 0, {{11, 0}});
  EXPECT_EQ(Take(), "/f:3");
}

// The event ring's definitions and these are of one file.
TEST_F(SideStacksTest, IdsAreOneSequenceWithTheEventRings) {
  definitions_.Define(ControlKind::kCode, 5,
                      SlotStream::CodeBytes("b.py", "g", 9, ""));
  producer_.Code(11, "a.py", "f", 3);
  producer_.Touch(1, 1, 0, {{11, 0}});
  EXPECT_EQ(Take(), "/f:3");
  const StackPayload node = {0, 5, 0, 0};
  definitions_.Define(ControlKind::kStackDef, 1, SlotStream::Bytes(node));
  EXPECT_EQ(out_.Text(definitions_.Stack(1)), "/g:9");
}

NativeThreadFacts FactsOfName(const std::string& name) {
  return {getpid(), {name, 0}};
}

ThreadPayload ThreadBytes(uint64_t native_id, uint64_t tsc,
                          uint32_t renamed = 0) {
  return {native_id, tsc, renamed, 0};
}

TEST_F(SideStacksTest, AThreadThatBothNameIsOne) {
  const auto name = [] { return FactsOfName("MainThread"); };
  const uint32_t id = definitions_.NativeThread(77, 5, name);
  EXPECT_EQ(definitions_.NativeThread(77, 9, name), id);
  definitions_.Define(
      ControlKind::kThreadDef, 1,
      SlotStream::Bytes(ThreadBytes(77, 0)) + SlotStream::Text("MainThread"));
  EXPECT_EQ(definitions_.Thread(1), id);
  EXPECT_EQ(out_.threads.size(), 2u);
  // By another name it is another definition, which counts from then on.
  definitions_.Define(
      ControlKind::kThreadDef, 2,
      SlotStream::Bytes(ThreadBytes(77, 1, 1)) + SlotStream::Text("worker"));
  EXPECT_EQ(definitions_.NativeThread(77, 9, name), definitions_.Thread(2));
  EXPECT_EQ(out_.threads[definitions_.Thread(2)].name(), "worker");
  EXPECT_EQ(out_.threads[definitions_.Thread(2)].renamed(), id);
  // And the ring's names come first where they come first.
  definitions_.Define(
      ControlKind::kThreadDef, 3,
      SlotStream::Bytes(ThreadBytes(78, 1)) + SlotStream::Text("pool"));
  EXPECT_EQ(definitions_.NativeThread(78, 9, name), definitions_.Thread(3));
  EXPECT_EQ(out_.threads[definitions_.Thread(3)].renamed(), 0u);
}

// The kernel's name for it comes first, threading's later.
TEST_F(SideStacksTest, AThreadThatGetsItsNameLaterIsRenamed) {
  const uint64_t own = static_cast<uint64_t>(gettid());
  const NativeThreadFacts facts = {getpid(), ReadThreadStat(getpid(), own)};
  ASSERT_NE(facts.stat.start_ticks, 0u);
  const uint32_t id = definitions_.NativeThread(own, 5, [&] { return facts; });
  definitions_.Define(
      ControlKind::kThreadDef, 1,
      SlotStream::Bytes(ThreadBytes(own, 9)) + SlotStream::Text("worker"));
  EXPECT_NE(definitions_.Thread(1), id);
  EXPECT_EQ(out_.threads[definitions_.Thread(1)].renamed(), id);
}

// Its number was another thread's, which has ended.
TEST_F(SideStacksTest, AThreadThatBeganLaterIsAnotherOne) {
  const uint64_t own = static_cast<uint64_t>(gettid());
  NativeThreadFacts facts = {getpid(), ReadThreadStat(getpid(), own)};
  --facts.stat.start_ticks;
  definitions_.NativeThread(own, 5, [&] { return facts; });
  definitions_.Define(
      ControlKind::kThreadDef, 1,
      SlotStream::Bytes(ThreadBytes(own, 9)) + SlotStream::Text("worker"));
  EXPECT_EQ(out_.threads[definitions_.Thread(1)].renamed(), 0u);
  definitions_.Define(
      ControlKind::kThreadDef, 2,
      SlotStream::Bytes(ThreadBytes(own, 12)) + SlotStream::Text("worker"));
  EXPECT_NE(definitions_.Thread(2), definitions_.Thread(1));
  EXPECT_EQ(out_.threads[definitions_.Thread(2)].renamed(), 0u);
}

}  // namespace
}  // namespace pymemrun
