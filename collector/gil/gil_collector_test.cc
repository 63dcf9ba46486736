// Items of the side ring, to what readers see.
#include "collector/gil/gil_collector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <set>
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
constexpr uint64_t kGil = 1;

class GilOutput final : public RecordSink, public RecordVisitor {
 public:
  using RecordSink::Write;
  void Write(absl::string_view bytes, RowCounts) override {
    const absl::Status status = decoder_.Decode(bytes);
    EXPECT_TRUE(status.ok()) << status;
  }
  void OnCode(const CodeDef& def) override { codes.push_back(def.name()); }
  void OnStack(const StackDef& def) override {
    stacks.push_back(codes[def.code()]);
  }
  void OnThread(const ThreadDef& def) override {
    threads.push_back(def.native_id());
  }
  void OnGilRecording(const GilRecording& recording) override {
    lines.push_back(absl::StrCat("from ", recording.min_wait_ns()));
  }
  void OnGilLoss(const GilLoss& loss) override {
    lines.push_back(absl::StrCat("loss ", loss.events()));
  }
  bool OnGil(const GilEvent* events, size_t count) override {
    for (size_t i = 0; i < count; ++i) {
      const GilEvent& event = events[i];
      std::string line = absl::StrCat(
          GilAction_Name(event.action).substr(4), " ", event.gil, " ",
          threads[event.thread] == static_cast<uint64_t>(getpid())
              ? "main"
              : absl::StrCat(threads[event.thread]),
          " ", event.time_ns);
      if (HasHold(event.action)) {
        absl::StrAppend(&line, " free ", event.free_ns, " pauses ",
                        event.pauses, " ", event.paused_ns);
      }
      if (HasGilStack(event.action)) {
        absl::StrAppend(&line, " ", stacks[event.stack]);
      }
      if (HasBy(event.action))
        absl::StrAppend(&line, " by ", threads[event.by]);
      lines.push_back(line);
    }
    return true;
  }

  std::vector<std::string> codes = {""}, stacks = {""}, lines;
  std::vector<uint64_t> threads = {0};

 private:
  RecordDecoder decoder_{this};
};

class GilCollectorTest : public testing::Test {
 protected:
  void SetUp() override {
    clock_.Start(false, {0, kStart}, {});
    Record header;
    header.mutable_header()->set_format_version(1);
    out_.Write(header);
    side_ = std::make_unique<SideItems>(region_.page(), region_.reply(),
                                        getpid(), &definitions_, &out_);
    gil_ = std::make_unique<GilCollector>(GilCollector::Options{
        {region_.page(), getpid(), 4096, &clock_, &definitions_, side_.get(),
         &out_},
        /*min_wait_ns=*/500,
        [this](uint32_t thread) { return !gone_.contains(thread); }});
    gil_->Describe(/*start_ns=*/0);
    side_->Start();
    producer_.Code(1, "a.py", "held", 1);
  }
  template <typename Head>
  static Head HeadOf(SideKind kind, uint32_t thread, uint64_t time_ns,
                     GilNote note = {}) {
    Head head;
    head.kind = kind;
    head.flags = static_cast<uint16_t>(note);
    head.thread = thread;
    head.time_ns = kStart + time_ns;
    head.gil = kGil;
    return head;
  }
  void Note(GilNote note, uint32_t thread, uint64_t time_ns,
            uint64_t free_since = 0, uint64_t paused = 0, uint64_t pauses = 0,
            uint64_t gil = kGil) {
    auto head = HeadOf<SideGil>(SideKind::kGil, thread, time_ns, note);
    head.gil = gil;
    head.free_since = free_since == 0 ? 0 : kStart + free_since;
    head.paused = paused;
    head.pauses = pauses;
    producer_.Push(head, "");
  }
  void Woken(GilNote note, uint32_t thread, uint64_t time_ns, uint32_t by) {
    auto head = HeadOf<SideLock>(SideKind::kGil, thread, time_ns, note);
    head.waker = by;
    producer_.Push(head, "");
  }
  void Kept(GilNote note, uint32_t thread, uint64_t time_ns, uint32_t kept) {
    auto head = HeadOf<SideGil>(SideKind::kGil, thread, time_ns, note);
    head.detail = kept >> kGilKeptShift;
    producer_.Push(head, "");
  }
  void Stack(uint32_t role, uint32_t thread, uint64_t time_ns) {
    auto head = HeadOf<SideGilStack>(SideKind::kGilStack, thread, time_ns);
    head.detail = SideHead::Detail(/*frames=*/1, role);
    head.frame = {1, 0};
    producer_.Push(head, "");
  }
  // Long after what the tests do.
  static uint64_t Late() { return kStart + uint64_t{3600} * 1000000000; }
  void Round() { Round(Late()); }
  void Round(uint64_t looked_ns) {
    side_->Drain(looked_ns, false);
    gil_->Round(looked_ns);
  }
  std::vector<std::string> Finish(bool process_lives = false) {
    side_->Drain(Late(), true);
    gil_->Finish(Late(), process_lives);
    return out_.lines;
  }
  uint32_t Main() const { return static_cast<uint32_t>(getpid()); }

  TestRegion region_;
  SideProducer producer_{region_.page(), region_.cells()};
  ClockScale clock_;
  GilOutput out_;
  DefinitionTable definitions_{&clock_, &out_};
  std::set<uint32_t> gone_;
  std::unique_ptr<SideItems> side_;
  std::unique_ptr<GilCollector> gil_;
};

TEST_F(GilCollectorTest, ItemsBecomeEvents) {
  Note(GilNote::kTaken, Main(), 100);
  Note(GilNote::kWaiting, 77, 200, 0, 30, 2);
  Stack(2, Main(), 900);
  Note(GilNote::kTaken, 77, 1000, 950, 30, 2);
  Stack(1, 77, 1000);
  Note(GilNote::kGivingWay, 77, 2000);
  Note(GilNote::kGaveWay, 77, 2500);
  EXPECT_THAT(Finish(),
              ElementsAre("from 500", "TAKEN 1 main 100 free 0 pauses 0 0",
                          "WAITING 1 77 200 free 0 pauses 2 30",
                          "HOLDER 1 main 900 held",
                          "TAKEN 1 77 1000 free 50 pauses 2 30",
                          "WAITER 1 77 1000 held", "GIVING_WAY 1 77 2000",
                          "GAVE_WAY 1 77 2500"));
}

TEST_F(GilCollectorTest, AnEventIsHeldBackForWhatComesLate) {
  constexpr uint64_t kMs = 1000000;
  Note(GilNote::kTaken, Main(), 100 * kMs);
  Round(kStart + 120 * kMs);
  gil_->EndBatch(kStart + 120 * kMs);
  EXPECT_THAT(out_.lines, ElementsAre("from 500"));
  Round(kStart + 160 * kMs);
  gil_->EndBatch(kStart + 160 * kMs);
  EXPECT_EQ(out_.lines.size(), 2u);
}

// Different locks' items come in any order; who woke a thread may be no thread
// of the program's.
TEST_F(GilCollectorTest, WaitsForLocksAreInTheOrderOfTime) {
  region_.page()->start.free_threaded = 1;
  Note(GilNote::kLockWaiting, 77, 200);
  Woken(GilNote::kLockTaken, 77, 1000, 78);
  Stack(1, 77, 1000);
  Stack(2, 78, 990);
  Note(GilNote::kStopsOthers, 78, 1100);
  Note(GilNote::kOthersStopped, 78, 1300);
  Note(GilNote::kStandsStill, 77, 1200);
  Woken(GilNote::kGoesOn, 77, 1400, 0);
  EXPECT_THAT(
      Finish(),
      ElementsAre("from 500", "LOCK_WAITING 1 77 200", "HOLDER 1 78 990 held",
                  "LOCK_TAKEN 1 77 1000 by 78", "WAITER 1 77 1000 held",
                  "STOPS_OTHERS 1 78 1100", "STANDS_STILL 1 77 1200",
                  "OTHERS_STOPPED 1 78 1300", "GOES_ON 1 77 1400 by 0"));
}

// As a thread does that was put to rest right after it let go.
TEST_F(GilCollectorTest, AThreadThatCouldNotSaySoAtOnceGivesWayFromThenOn) {
  Note(GilNote::kTaken, Main(), 1000);
  Note(GilNote::kTaken, 77, 5000, 4900);
  Kept(GilNote::kWaiting, Main(), 9000, 4096);
  Kept(GilNote::kGivingWay, 77, 12000, 512);
  EXPECT_THAT(
      Finish(),
      ElementsAre("from 500", "TAKEN 1 main 1000 free 0 pauses 0 0",
                  "GIVING_WAY 1 main 4904",
                  "TAKEN 1 77 5000 free 100 pauses 0 0", "GAVE_WAY 1 main 9000",
                  "WAITING 1 main 9000 free 0 pauses 0 0",
                  "GIVING_WAY 1 77 11488"));
}

TEST_F(GilCollectorTest, WhoHasItAtTheEndIsReadFromTheControlPage) {
  GilHold& hold = region_.page()->gils[0];
  hold.gil = kGil;
  hold.thread = Main();
  hold.free_since = clock_.NanosOfMonotonic(Late()) + kStart - 40;
  hold.pauses = 5;
  hold.paused = 70;
  const uint64_t end = clock_.NanosOfMonotonic(Late());
  EXPECT_THAT(Finish(),
              ElementsAre("from 500", absl::StrCat("STATE 1 main ", end,
                                                   " free 40 pauses 5 70")));
}

TEST_F(GilCollectorTest, AThreadHasLeftWhenItIsMissedTwice) {
  Note(GilNote::kTaken, 77, 100);
  Note(GilNote::kTaken, 78, 200, 150);
  Round();
  Round();
  gone_ = {77};
  gil_->EndBatch(Late());
  EXPECT_EQ(out_.lines.size(), 3u);
  gil_->EndBatch(Late() + 1);  // too soon to look again
  EXPECT_EQ(out_.lines.size(), 3u);
  gil_->EndBatch(Late() + 1000000000);
  ASSERT_EQ(out_.lines.size(), 4u);
  EXPECT_EQ(
      out_.lines[3],
      absl::StrCat("LEFT 1 77 ", clock_.NanosOfMonotonic(Late() + 950000000)));
  // While the program waits for its end, once is enough.
  gone_ = {77, 78};
  EXPECT_EQ(Finish(/*process_lives=*/true).size(), 5u);
}

TEST_F(GilCollectorTest, AnEndDoesNotOvertakeWhatIsHeldBack) {
  constexpr uint64_t kMs = 1000000;
  Note(GilNote::kTaken, 77, 100 * kMs);
  Round(kStart + 320 * kMs);
  gone_ = {77};
  gil_->EndBatch(kStart + 320 * kMs);
  // A thread without a name waits for it.
  Note(GilNote::kTaken, 78, 500 * kMs, 300 * kMs);
  Round(kStart + 600 * kMs);
  gil_->EndBatch(kStart + 600 * kMs);
  // What is in the ring still is not known.
  Note(GilNote::kTaken, Main(), 560 * kMs, 550 * kMs);
  EXPECT_THAT(Finish(),
              ElementsAre("from 500", "TAKEN 1 77 100000000 free 0 pauses 0 0",
                          "LEFT 1 77 500000000",
                          "TAKEN 1 78 500000000 free 200000000 pauses 0 0",
                          "TAKEN 1 main 560000000 free 10000000 pauses 0 0"));
}

TEST_F(GilCollectorTest, NobodyIsMissedOnceTheProcessIsGone) {
  Note(GilNote::kTaken, 77, 100);
  Round();
  Round();
  gone_ = {77};
  EXPECT_EQ(Finish(/*process_lives=*/false).size(), 2u);
}

TEST_F(GilCollectorTest, WhatMakesNoSenseIsCountedAsLost) {
  Note(static_cast<GilNote>(14), Main(), 100);
  Stack(7, Main(), 100);
  for (const uint64_t gil : {uint64_t{0}, uint64_t{1} << 32}) {
    Note(GilNote::kTaken, Main(), 100, 0, 0, 0, gil);
  }
  EXPECT_THAT(Finish(), ElementsAre("from 500", "loss 4"));
}

TEST_F(GilCollectorTest, GilsKeepTheirNumbers) {
  Note(GilNote::kTaken, Main(), 100, 0, 0, 0, 1);
  Note(GilNote::kTaken, 77, 200, 0, 0, 0, 6);
  EXPECT_THAT(Finish(),
              ElementsAre("from 500", "TAKEN 1 main 100 free 0 pauses 0 0",
                          "TAKEN 6 77 200 free 0 pauses 0 0"));
}

TEST_F(GilCollectorTest, AGilThatIsNoMoreSaysHowItEnded) {
  Note(GilNote::kTaken, 77, 100, 0, 0, 0, 2);
  auto head = HeadOf<SideGil>(SideKind::kGil, Main(), 900, GilNote::kEnded);
  head.gil = 2;
  head.detail = 77;  // who took it last
  head.free_since = kStart + 850;
  producer_.Push(head, "");
  EXPECT_THAT(Finish(),
              ElementsAre("from 500", "TAKEN 2 77 100 free 0 pauses 0 0",
                          "STATE 2 77 900 free 50 pauses 0 0"));
}

TEST_F(GilCollectorTest, NumbersOutOfAnyRangeAreCutToIt) {
  // Times beyond now, before the start; sums beyond all.
  Note(GilNote::kTaken, Main(), Late(), 1, ~uint64_t{0}, ~uint64_t{0});
  Note(GilNote::kWaiting, 77, ~uint64_t{0} - kStart + 1, 5);
  Note(GilNote::kTaken, 77, 10, ~uint64_t{0} - kStart);
  const std::vector<std::string> lines = Finish();
  ASSERT_EQ(lines.size(), 4u);  // and each was decoded
}

}  // namespace
}  // namespace pymemrun
