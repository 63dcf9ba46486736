#include "collector/pages/fault_looks.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include "collector/pages/fault_fixture.h"
#include "collector/process/monotonic_clock.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {
namespace {

struct NoRecords final : RecordSink {
  using RecordSink::Write;
  void Write(absl::string_view, RowCounts) override {}
};

class FaultLooksTest : public testing::Test {
 protected:
  FaultLooksTest() { memory_ = MapFreshPages(kPages); }
  void SetUp() override {
    char* const behind = memory_ + (kPages - 1) * kFixturePage;
    *behind = 1;
    if (!scan_.IsHuge(reinterpret_cast<uint64_t>(behind)).has_value()) {
      GTEST_SKIP() << "the kernel is too old to say";
    }
  }
  ~FaultLooksTest() override { munmap(memory_, kPages * kFixturePage); }

  // The first fault of a block of 2 MiB, before the kernel has taken it.
  PageSample LookWhileUnderWay() {
    const uint64_t huge = HugePageBytes(kFixturePage);
    const uint64_t begin = reinterpret_cast<uint64_t>(memory_);
    PageSample sample = {.time_ns = MonotonicNs(),
                         .address = (begin + huge - 1) / huge * huge,
                         .instruction = 1,
                         .thread = 1};
    Look({sample});
    return sample;
  }
  void Look(std::vector<PageSample> samples) { looks_.Look(0, &samples); }
  void Write(const PageSample& sample) {
    *reinterpret_cast<volatile char*>(sample.address) = 1;
  }
  void Discard(const PageSample& sample) {
    madvise(reinterpret_cast<void*>(sample.address),
            HugePageBytes(kFixturePage), MADV_DONTNEED);
  }

  static constexpr size_t kPages = 1024;
  char* memory_;
  NoRecords records_;
  MappingTable mappings_{getpid(), &records_};
  ResidencyScan scan_{getpid(), kFixturePage, &mappings_};
  FaultLooks looks_{&scan_, &mappings_, kFixturePage};
};

TEST_F(FaultLooksTest, AFaultUnderWayIsAskedAboutAgainBeforeItsMemoryGoes) {
  const PageSample sample = LookWhileUnderWay();
  Write(sample);
  Look({});
  Discard(sample);
  EXPECT_EQ(looks_.IsHuge(sample), false);
}

TEST_F(FaultLooksTest, OfWhatNobodySawNothingIsSaid) {
  const PageSample sample = LookWhileUnderWay();
  Look({});
  Write(sample);
  Discard(sample);
  EXPECT_EQ(looks_.IsHuge(sample), absl::nullopt);
}

// It is another fault's page that is there then.
TEST_F(FaultLooksTest, AfterItsMemoryHasGoneItIsNotAskedAbout) {
  const PageSample sample = LookWhileUnderWay();
  looks_.Left(sample.address, HugePageBytes(kFixturePage));
  Write(sample);
  Look({});
  Discard(sample);
  EXPECT_EQ(looks_.IsHuge(sample), absl::nullopt);
}

}  // namespace
}  // namespace pymemrun
