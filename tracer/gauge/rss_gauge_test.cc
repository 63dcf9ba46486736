// A gauge by itself, with a state of its own for each test: what it says of
// pages that come and go, and what it does when its counters do.
#include "tracer/gauge/rss_gauge.h"

#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "gtest/gtest.h"
#include "tracer/base/statm.h"
#include "tracer/gauge/rss_signs.h"
#include "tracer/gauge/rss_verifier.h"
#include "tracer/wire/region_for_tests.h"

namespace pymemrun {
namespace {

const size_t kPage = static_cast<size_t>(sysconf(_SC_PAGESIZE));
constexpr int32_t kMany = 4096;  // more than other threads' pages come to

// Pages that were touched, for as long as it lives.
class Pages {
 public:
  explicit Pages(size_t count)
      : bytes_(count * kPage),
        memory_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    madvise(memory_, bytes_, MADV_NOHUGEPAGE);
    Touch(static_cast<volatile char*>(memory_));
  }
  ~Pages() { munmap(memory_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

 private:
  // Without a sanitizer's look at its shadow, whose pages would count too.
  [[gnu::no_sanitize_address, gnu::no_sanitize_thread]] void Touch(
      volatile char* memory) {
    for (size_t at = 0; at < bytes_; at += kPage) memory[at] = 1;
  }

  const size_t bytes_;
  void* const memory_;
};

class RssGaugeTest : public testing::Test {
 protected:
  // Returns false where there are no such counters.
  bool Open(GaugeSource source) {
    hot_.page = region_.page();
    hot_.staleness = ~uint64_t{0} / 1024;  // nothing is read for its age alone
    if (!gauge_.Open(hot_, source)) return false;
    Update();
    return true;
  }
  int32_t Update() { return gauge_.Update(hot_, ++stamp_, ++number_, &found_); }
  uint64_t reads() const { return region_.page()->rss_reads.load(); }

  TestRegion region_;
  HotState hot_ = {};
  RssGauge gauge_;
  GaugeFindings found_ = {};
  uint64_t stamp_ = 0;
  uint64_t number_ = 0;
};

TEST_F(RssGaugeTest, PagesThatComeAndGoAreItsChange) {
  ASSERT_TRUE(Open(GaugeSource::kStatm)) << gauge_.reason();
  {
    const Pages pages(kMany);
    EXPECT_NEAR(Update(), kMany, kMany / 8);
  }
  EXPECT_NEAR(Update(), -kMany, kMany / 8);
  EXPECT_GE(gauge_.max_rss_pages(), static_cast<uint64_t>(kMany));
  EXPECT_FALSE(found_.source_changed);
}

TEST_F(RssGaugeTest, WithoutASignNothingHasMoved) {
  ASSERT_TRUE(Open(GaugeSource::kHints)) << gauge_.reason();
  EXPECT_FALSE(RssMayHaveMoved(hot_, stamp_));
  const Pages pages(kMany);  // by mmap: the break stays
  EXPECT_FALSE(RssMayHaveMoved(hot_, stamp_));
  hot_.unmaps.fetch_add(1);
  EXPECT_TRUE(RssMayHaveMoved(hot_, stamp_));
  EXPECT_GT(Update(), kMany / 2);
  EXPECT_FALSE(RssMayHaveMoved(hot_, stamp_));
}

TEST_F(RssGaugeTest, WhatIsForgottenIsReadAgain) {
  ASSERT_TRUE(Open(GaugeSource::kHints)) << gauge_.reason();
  const uint64_t before = reads();
  gauge_.Invalidate(hot_);
  EXPECT_TRUE(RssMayHaveMoved(hot_, stamp_));
  Update();
  EXPECT_EQ(reads(), before + 1);
}

TEST_F(RssGaugeTest, CountersThatTheProgramUnmapsGiveWayToHints) {
  if (!Open(GaugeSource::kFaults)) GTEST_SKIP() << gauge_.reason();
  // The counters' pages hold their heads.
  const auto* head = const_cast<const uint64_t*>(hot_.heads[0]);
  ASSERT_TRUE(gauge_.AreCounters(head, 8));
  EXPECT_FALSE(gauge_.AreCounters(&gauge_, sizeof(gauge_)));
  gauge_.CountersGo(hot_);
  EXPECT_EQ(hot_.head_count, 0u);
  Update();
  EXPECT_TRUE(found_.source_changed);
  EXPECT_EQ(found_.old_source, GaugeSource::kFaults);
  EXPECT_EQ(gauge_.source(), GaugeSource::kHints);
  EXPECT_NE(std::string(gauge_.reason()).find("unmapped"), std::string::npos);
}

TEST_F(RssGaugeTest, TheVerifierCountsWhereTheGaugeIsBehind) {
  ASSERT_TRUE(Open(GaugeSource::kHints)) << gauge_.reason();
  RssVerifier verifier(gauge_);
  const Pages pages(kMany);
  verifier.Check(hot_, ++stamp_);
  const ControlPage& page = *region_.page();
  EXPECT_EQ(page.verified_events.load(), 1u);
  EXPECT_EQ(page.agreeing_events.load(), 0u);
  EXPECT_GT(page.worst_error_pages.load(), static_cast<uint64_t>(kMany) / 2);
}

}  // namespace
}  // namespace pymemrun
