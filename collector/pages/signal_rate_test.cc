#include "collector/pages/signal_rate.h"

#include <errno.h>
#include <gtest/gtest.h>

#include <cstring>

#include "collector/pages/fault_fixture.h"
#include "text/units_for_tests.h"

namespace pymemrun {
namespace {

constexpr int kEachFd = 200;

// Events that count instead of signalling: which set is on shows all the same.
class SignalRateTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!OpenFaultsOfCpus(kEachFd) || !OpenFaultsOfCpus(some_fd_)) {
      GTEST_SKIP() << "no perf events here: " << strerror(errno);
    }
  }
  // Faults at this rate for 10 ms.
  void Go(uint64_t faults_per_second) {
    now_ns_ += 10 * kMs;
    rate_.Update(now_ns_, faults_per_second / 100);
  }
  bool EachSignals() const { return FaultsOfCpusCount(kEachFd); }
  bool SomeSignal() const { return FaultsOfCpusCount(some_fd_); }

  const int some_fd_ = kEachFd + CpusOnline();
  SignalRate rate_{kEachFd, static_cast<uint32_t>(CpusOnline()), 1};
  uint64_t now_ns_ = 1000 * kMs;
};

TEST_F(SignalRateTest, ItBeginsWithEachAlone) {
  EXPECT_TRUE(EachSignals() && SomeSignal());  // as the process enabled them
  rate_.Update(now_ns_, 1);
  EXPECT_TRUE(EachSignals());
  EXPECT_FALSE(SomeSignal());
}

TEST_F(SignalRateTest, ManyFaultsSignalSomeAndFewSignalEach) {
  rate_.Update(now_ns_, 0);
  Go(5500);
  EXPECT_TRUE(EachSignals());
  Go(6500);
  EXPECT_FALSE(EachSignals());
  EXPECT_TRUE(SomeSignal());
  for (int i = 0; i < 20; ++i) Go(4500);  // in between it stays as it is
  EXPECT_FALSE(EachSignals());
  EXPECT_TRUE(SomeSignal());
  for (int i = 0; i < 10; ++i) Go(3500);
  EXPECT_TRUE(EachSignals());
  EXPECT_FALSE(SomeSignal());
}

TEST_F(SignalRateTest, BurstsThatFollowEachOtherSignalSome) {
  rate_.Update(now_ns_, 0);
  Go(50000);
  for (int i = 0; i < 30; ++i) {
    Go(i % 9 == 8 ? 50000 : 0);
    EXPECT_FALSE(EachSignals());
  }
}

TEST_F(SignalRateTest, WhereOnePageInTenIsRecordedATenthIsMany) {
  SignalRate rate(kEachFd, static_cast<uint32_t>(CpusOnline()), 10);
  rate.Update(now_ns_, 0);
  rate.Update(now_ns_ += 10 * kMs, 5);  // 500 a second
  EXPECT_TRUE(EachSignals());
  rate.Update(now_ns_ += 10 * kMs, 7);
  EXPECT_FALSE(EachSignals());
  EXPECT_TRUE(SomeSignal());
}

TEST_F(SignalRateTest, AShortBurstIsNoRate) {
  rate_.Update(now_ns_, 0);
  rate_.Update(now_ns_ += kMs, 100);  // 100,000 a second
  EXPECT_TRUE(EachSignals());
  rate_.Update(now_ns_ += 19 * kMs, 0);
  EXPECT_TRUE(EachSignals());
  EXPECT_FALSE(SomeSignal());
}

TEST_F(SignalRateTest, WhereThereIsOneSetItStaysOn) {
  SignalRate one(kEachFd, 0, 1);
  one.Update(now_ns_, 0);
  one.Update(now_ns_ + 10 * kMs, 100000);
  EXPECT_TRUE(EachSignals() && SomeSignal());
}

}  // namespace
}  // namespace pymemrun
