#include "collector/side/quiet_span.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "collector/ring/side_ring_fixture.h"
#include "tracer/wire/region_for_tests.h"

namespace pymemrun {
namespace {

constexpr uint64_t kLong = uint64_t{3600} * 1000000000;

class Nothing final : public RecordSink {
 public:
  using RecordSink::Write;
  void Write(absl::string_view, RowCounts) override {}
};

class QuietSpanTest : public testing::Test {
 protected:
  void SetUp() override {
    side_ = std::make_unique<SideItems>(region_.page(), region_.reply(),
                                        getpid(), &definitions_, &out_);
    side_->Start();
  }
  // As a call does that unmaps memory.
  uint64_t BeginCall() {
    SideAny place;
    place.kind = SideKind::kNothing;
    return producer_.Push(place, "", /*commit=*/false);
  }
  void EndCall(uint64_t place) { producer_.Commit(place); }

  TestRegion region_;
  SideProducer producer_{region_.page(), region_.cells()};
  ClockScale clock_;
  Nothing out_;
  DefinitionTable definitions_{&clock_, &out_};
  std::unique_ptr<SideItems> side_;
};

TEST_F(QuietSpanTest, NoSpanIsQuietWhileACallIsUnderWay) {
  const uint64_t place = BeginCall();
  QuietSpan during(side_.get());
  EXPECT_FALSE(during.began_quiet());
  EXPECT_FALSE(during.Held(kLong));
  EndCall(place);
  EXPECT_FALSE(during.Held(kLong));
  QuietSpan after(side_.get());
  EXPECT_TRUE(after.began_quiet());
  EXPECT_TRUE(after.Held(kLong));
}

TEST_F(QuietSpanTest, ACallThatBeginsInTheSpanEndsItOverOrNot) {
  QuietSpan first(side_.get());
  const uint64_t place = BeginCall();
  EXPECT_FALSE(first.Held(kLong));
  EndCall(place);
  QuietSpan second(side_.get());
  EndCall(BeginCall());
  EXPECT_TRUE(second.began_quiet());
  EXPECT_FALSE(second.Held(kLong));
}

TEST_F(QuietSpanTest, PagesThatComeDoNotDisturb) {
  QuietSpan span(side_.get());
  producer_.Touch(7, 1, 0x1000, {});
  EXPECT_TRUE(span.Held(kLong));
}

TEST_F(QuietSpanTest, WhoWasHeldUpKnowsNothing) {
  QuietSpan span(nullptr);
  EXPECT_TRUE(span.Held(kLong));
  while (MonotonicNs() == span.begin_ns()) {
  }
  EXPECT_FALSE(span.Held(0));
}

}  // namespace
}  // namespace pymemrun
