// A whole half: this process's own faults, as the kernel samples them, and the
// side ring as the tracer would fill it.
#include "collector/pages/page_collector.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "collector/pages/fault_fixture.h"
#include "collector/process/monotonic_clock.h"
#include "collector/ring/side_ring_fixture.h"
#include "format/batches/page_event.h"
#include "format/records/record_decoder.h"
#include "tracer/wire/region_for_tests.h"

namespace pymemrun {
namespace {

// Decodes all as readers do.
class Output final : public RecordSink, public RecordVisitor {
 public:
  using RecordSink::Write;
  void Write(absl::string_view bytes, RowCounts) override {
    const absl::Status status = decoder_.Decode(bytes);
    EXPECT_TRUE(status.ok()) << status;
  }
  void OnCode(const CodeDef& def) override { names.push_back(def.name()); }
  void OnStack(const StackDef& def) override { stacks.push_back(def); }
  bool OnPages(const PageEntry* batch, size_t count) override {
    entries.insert(entries.end(), batch, batch + count);
    return true;
  }
  void OnResidency(const ResidencyView& view) override {
    ++answers;
    answered_us = view.time_us;
    resident.assign(view.ranges.begin(), view.ranges.end());
  }
  void OnPageLoss(const PageLoss& record) override { loss = record; }
  void OnFork(const Fork&) override { ++forks; }

  std::vector<std::string> names = {"(none)"};
  std::vector<StackDef> stacks = {StackDef()};
  std::vector<PageEntry> entries;
  std::vector<ResidentRange> resident;  // of the last answer...
  int answers = 0;                      // ...of this many
  uint64_t answered_us = 0;             // ...which is of then
  int forks = 0;
  PageLoss loss;

 private:
  RecordDecoder decoder_{this};
};

class PageCollectorTest : public testing::Test {
 protected:
  void SetUp() override {
    clock_.Start(false, {0, MonotonicNs()}, {});
    WriteHeader(&out_);
  }

  static void WriteHeader(Output* out) {
    Record header;
    header.mutable_header()->set_format_version(1);
    header.mutable_header()->set_page_bytes(kFixturePage);
    out->Write(header);
  }
  // False where perf is refused.
  bool OpenCounters() {
    counters_ = static_cast<uint32_t>(CpusOnline());
    return OpenFaultsOfCpus(kFirstFd);
  }
  PageCollector::Options OptionsOf(DefinitionTable* definitions,
                                   SideItems* side, RecordSink* out,
                                   uint32_t weight, uint64_t seed) {
    const SourceParts parts = {page_,       getpid(), kFixturePage, &clock_,
                               definitions, side,     out};
    return {parts, kFirstFd, counters_, signals_, weight, false, seed};
  }
  std::unique_ptr<PageCollector> Make() {
    side_ = std::make_unique<SideItems>(page_, region_.reply(), getpid(),
                                        &definitions_, &out_);
    auto made = PageCollector::Create(
        OptionsOf(&definitions_, side_.get(), &out_, /*weight=*/1, /*seed=*/1));
    EXPECT_TRUE(made.ok()) << made.status();
    return *std::move(made);
  }
  void Start(PageCollector* collector) {
    side_->Start();
    collector->Start();
  }
  void Touch(const char* at, uint32_t code) {
    producer_.Touch(Self(), MonotonicNs(), reinterpret_cast<uint64_t>(at),
                    {{code, 0}});
  }
  static uint32_t Self() { return static_cast<uint32_t>(gettid()); }
  // Entries of a range of memory, by the name of their innermost function.
  std::map<std::string, int> Charged(const char* begin, size_t pages) const {
    const uint64_t first = reinterpret_cast<uint64_t>(begin) / kFixturePage;
    std::map<std::string, int> charged;
    for (const PageEntry& entry : out_.entries) {
      if (entry.page < first || entry.page >= first + pages) continue;
      const std::string& name = out_.names[out_.stacks[entry.stack].code()];
      const bool came = entry.action == PAGE_CAME;
      ++charged[absl::StrCat(name, entry.inferred ? "?" : "", came ? "" : " ",
                             came ? "" : PageAction_Name(entry.action))];
    }
    return charged;
  }

  // The pages that came up to `time_us`, after the last one outside the range
  // that had a signal of its own: how many are inferred, and how many of these
  // are charged to `name`.
  std::pair<int, int> InferredUpTo(uint64_t time_us, const char* begin,
                                   size_t pages, absl::string_view name) const {
    const uint64_t first = reinterpret_cast<uint64_t>(begin) / kFixturePage;
    std::pair<int, int> found;
    for (const PageEntry& entry : out_.entries) {
      if (entry.action != PAGE_CAME || entry.time_us > time_us) continue;
      const bool inside = entry.page >= first && entry.page < first + pages;
      if (entry.inferred) {
        ++found.first;
        found.second += out_.names[out_.stacks[entry.stack].code()] == name;
      } else if (!inside) {
        found = {};
      }
    }
    return found;
  }

  // How many pages the entries of a range of memory stand for, each once.
  struct Estimate {
    double pages = 0;
    size_t entries = 0;
    bool all_before = false;  // each page that came before there was a choice
  };
  static Estimate EstimateOf(const std::vector<PageEntry>& entries,
                             const char* begin, size_t pages) {
    const uint64_t first = reinterpret_cast<uint64_t>(begin) / kFixturePage;
    std::map<uint64_t, uint32_t> weights;
    for (const PageEntry& entry : entries) {
      if (entry.page < first || entry.page >= first + pages) continue;
      weights[entry.page] = std::max(weights[entry.page], entry.weight);
    }
    Estimate estimate;
    for (const auto& [page, weight] : weights) estimate.pages += weight;
    estimate.entries = weights.size();
    return estimate;
  }
  // A whole run of its own: every other page of some memory is touched, the
  // first hundred twice.
  Estimate OneInTen(uint64_t seed, size_t pages) {
    Output out;
    WriteHeader(&out);
    DefinitionTable definitions(&clock_, &out);
    SideItems side(page_, region_.reply(), getpid(), &definitions, &out);
    auto collector = *PageCollector::Create(
        OptionsOf(&definitions, &side, &out, /*weight=*/10, seed));
    char* early = MapFreshPages(100);
    for (size_t i = 0; i < 100; ++i) early[i * kFixturePage] = 1;
    side.Start();
    collector->Start();
    char* touched = MapFreshPages(2 * pages);
    for (size_t i = 0; i < pages; ++i) touched[2 * i * kFixturePage] = 1;
    madvise(touched, 200 * kFixturePage, MADV_DONTNEED);
    for (size_t i = 0; i < 100; ++i) touched[2 * i * kFixturePage] = 1;
    collector->Finish(MonotonicNs(), /*process_lives=*/false);
    Estimate estimate = EstimateOf(out.entries, touched, 2 * pages);
    const Estimate before = EstimateOf(out.entries, early, 100);
    estimate.all_before = before.pages == 100 && before.entries == 100;
    munmap(touched, 2 * pages * kFixturePage);
    munmap(early, 100 * kFixturePage);
    return estimate;
  }

  static constexpr int kFirstFd = 200;
  using Counts = std::map<std::string, int>;
  TestRegion region_;
  ControlPage* const page_ = region_.page();
  SideProducer producer_{page_, region_.cells()};
  uint32_t counters_ = 0;
  uint32_t signals_ = 0;
  ClockScale clock_;
  Output out_;
  DefinitionTable definitions_{&clock_, &out_};
  std::unique_ptr<SideItems> side_;
};

TEST_F(PageCollectorTest, EachPageIsChargedToWhoTouchedIt) {
  if (!OpenCounters()) GTEST_SKIP() << "no perf events: " << strerror(errno);
  auto collector = Make();
  producer_.Code(1, "a.py", "early", 1);
  char* early = MapFreshPages(10);
  for (int i = 0; i < 10; ++i) Touch(&(early[i * kFixturePage] = 1), 1);
  collector->Keep(MonotonicNs());  // before the header is written: kept
  EXPECT_TRUE(out_.entries.empty());
  Start(collector.get());
  producer_.Code(2, "a.py", "touches", 1);
  producer_.Code(3, "a.py", "reads", 1);
  char* read = MapFreshPages(50);
  char* touched = MapFreshPages(1000);
  for (int i = 0; i < 1000; ++i) {
    Touch(&(touched[i * kFixturePage] = 1), 2);
    if (i % 100 == 0) collector->Drain(MonotonicNs());
  }
  for (int i = 0; i < 50; ++i) read[i * kFixturePage] = 1;
  // One signal for all: the nearer half is its. What the test itself touches
  // after that moment is later by a microsecond at least.
  const uint64_t signal_ns = MonotonicNs();
  while (MonotonicNs() < signal_ns + 2000) {
  }
  producer_.Touch(Self(), signal_ns, reinterpret_cast<uint64_t>(read),
                  {{3, 0}});
  madvise(touched, 100 * kFixturePage, MADV_DONTNEED);
  producer_.Range(RangeAction::kDiscarded, Self(), MonotonicNs(),
                  reinterpret_cast<uint64_t>(touched), 100 * kFixturePage,
                  {{3, 0}});
  producer_.Plain(SideKind::kFork, MonotonicNs());
  collector->Finish(MonotonicNs(), /*process_lives=*/false);
  EXPECT_EQ(Charged(early, 10), (Counts{{"early", 10}}));
  EXPECT_EQ(Charged(touched, 1000),
            (Counts{{"reads PAGES_DISCARDED", 1}, {"touches", 1000}}));
  Counts charged = Charged(read, 50);
  EXPECT_EQ(charged["reads"], 1);
  EXPECT_EQ(charged["reads?"] + charged["touches?"], 49);
  // The test itself may fault between the signals: its pages count too.
  const auto [inferred, of_last] =
      InferredUpTo(clock_.MicrosOfMonotonic(signal_ns), read, 50, "touches");
  EXPECT_EQ(of_last, inferred / 2 - 1);
  EXPECT_EQ(out_.forks, 1);
  uint64_t resident = 0;
  const uint64_t first = reinterpret_cast<uint64_t>(touched) / kFixturePage;
  for (const ResidentRange& range : out_.resident) {
    for (uint64_t i = 0; i < range.pages; ++i) {
      resident += range.page + i - first < 1000;
    }
  }
  EXPECT_EQ(resident, 900u);
  EXPECT_GE(out_.answers, 2);
  Footer footer;
  collector->AddToFooter(&footer);
  uint64_t came = 0;
  for (const PageEntry& entry : out_.entries) came += entry.action == PAGE_CAME;
  EXPECT_EQ(footer.page_events(), came);
  EXPECT_GE(footer.pages_inferred(), 49u);
  EXPECT_EQ(footer.page_samples_lost(), 0u);
}

// What is read before it is written takes no memory, and becomes a page event
// when it is written. For memory that was released before the collector looked,
// the instruction decides.
TEST_F(PageCollectorTest, PagesOfZerosAreNoPageEvents) {
  if (!OpenCounters()) GTEST_SKIP() << "no perf events: " << strerror(errno);
  auto collector = Make();
  Start(collector.get());
  producer_.Code(1, "a.py", "reads", 1);
  producer_.Code(2, "a.py", "writes", 1);
  constexpr size_t kPages = 300;
  const auto read = [this](volatile const char* memory) {
    for (size_t i = 0; i < kPages; ++i) {
      const volatile char* const at = memory + i * kFixturePage;
      static_cast<void>(*at);
      Touch(const_cast<const char*>(at), 1);
    }
  };
  char* zeros = MapFreshPages(kPages);
  read(zeros);
  collector->Drain(MonotonicNs() + 10000000);
  for (size_t i = 0; i < 100; ++i) Touch(&(zeros[i * kFixturePage] = 1), 2);
  char* gone = MapFreshPages(kPages);
  read(gone);
  munmap(gone, kPages * kFixturePage);
  collector->Finish(MonotonicNs(), /*process_lives=*/false);
  EXPECT_EQ(Charged(zeros, kPages), (Counts{{"writes", 100}}));
  EXPECT_EQ(Charged(gone, kPages), Counts{});
  munmap(zeros, kPages * kFixturePage);
}

// The kernel is asked while the page is there; what its signal found far from
// it later, when the rest had come page by page, says nothing then.
TEST_F(PageCollectorTest, APageThatWasSeenToBeSmallStaysSo) {
  if (!OpenCounters()) GTEST_SKIP() << "no perf events: " << strerror(errno);
  auto collector = Make();
  Start(collector.get());
  producer_.Code(1, "a.py", "small", 1);
  const uint64_t kHuge = HugePageBytes(kFixturePage);
  char* memory = MapFreshPages(2 * kHuge / kFixturePage);
  char* small = memory + kHuge - reinterpret_cast<uint64_t>(memory) % kHuge;
  *small = 1;
  collector->Drain(MonotonicNs() +
                   10000000);  // what has come is old enough then
  madvise(small, kFixturePage, MADV_DONTNEED);
  producer_.Touch(Self(), MonotonicNs(), reinterpret_cast<uint64_t>(small),
                  {{1, 0}}, kSideFarToo);
  collector->Finish(MonotonicNs(), /*process_lives=*/false);
  EXPECT_EQ(Charged(small, kHuge / kFixturePage), (Counts{{"small", 1}}));
  munmap(memory, 2 * kHuge);
}

TEST_F(PageCollectorTest, WhatIsLostIsSaidAsItHappens) {
  auto collector = Make();
  Start(collector.get());
  collector->EndBatch(MonotonicNs());
  EXPECT_EQ(out_.loss.stacks(), 0u);
  page_->side_dropped[0].store(5);
  collector->EndBatch(MonotonicNs());
  EXPECT_EQ(out_.loss.stacks(), 5u);
  page_->side_dropped[0].store(7);
  collector->Finish(MonotonicNs(), /*process_lives=*/false);
  EXPECT_EQ(out_.loss.stacks(), 2u);  // since then
  Footer footer;
  collector->AddToFooter(&footer);
  EXPECT_EQ(footer.page_stacks_lost(), 7u);
}

TEST_F(PageCollectorTest, WhichFaultsSignalIsChosenOnceTheProcessStarted) {
  if (!OpenCounters()) GTEST_SKIP() << "no perf events: " << strerror(errno);
  const int each = kFirstFd + CpusOnline(), some = each + CpusOnline();
  ASSERT_TRUE(OpenFaultsOfCpus(each) && OpenFaultsOfCpus(some));
  signals_ = 2 * counters_;
  auto collector = Make();
  collector->Keep(MonotonicNs());
  EXPECT_TRUE(FaultsOfCpusCount(each));
  EXPECT_TRUE(FaultsOfCpusCount(some));
  Start(collector.get());
  EXPECT_TRUE(FaultsOfCpusCount(each));
  EXPECT_FALSE(FaultsOfCpusCount(some));
  collector->Finish(MonotonicNs(), /*process_lives=*/false);
}

// However late the collector hears of it.
TEST_F(PageCollectorTest, TheLastAnswerIsOfTheMomentTheProgramWaitsAt) {
  auto collector = Make();
  Start(collector.get());
  const uint64_t end_ns = page_->finalize_ns = MonotonicNs();
  collector->Drain(end_ns + 50000000);
  collector->ProgramEnded(end_ns);
  collector->Drain(end_ns + 50000000);
  EXPECT_EQ(out_.answered_us, clock_.MicrosOfMonotonic(end_ns));
  collector->Finish(MonotonicNs(), /*process_lives=*/false);
}

// As with a period of 8: the pages between take the next one's stack, and all
// count.
TEST_F(PageCollectorTest, WhereOneInNIsSignalledTheOthersTakeItsStack) {
  if (!OpenCounters()) GTEST_SKIP() << "no perf events: " << strerror(errno);
  auto collector = Make();
  Start(collector.get());
  producer_.Code(2, "a.py", "touches", 1);
  char* touched = MapFreshPages(40000);
  for (int i = 0; i < 40000; ++i) {
    touched[i * kFixturePage] = 1;
    if (i % 8 == 7) Touch(&touched[i * kFixturePage], 2);
    if (i % 1000 == 999) collector->Drain(MonotonicNs());
  }
  collector->Finish(MonotonicNs(), /*process_lives=*/false);
  const Counts charged = Charged(touched, 40000);
  ASSERT_EQ(charged.size(), 2u);
  EXPECT_EQ(charged.at("touches"), 5000);
  EXPECT_EQ(charged.at("touches?"), 35000);  // inferred
  Footer footer;
  collector->AddToFooter(&footer);
  EXPECT_GE(footer.pages_inferred(), 35000u);
  munmap(touched, 40000 * kFixturePage);
}

// Known pages that are touched, some of them twice, in many runs with a choice
// of their own each: all that counts are the weights.
TEST_F(PageCollectorTest, OnePageInTenStandsForTenWhateverIsChosen) {
  if (!OpenCounters()) GTEST_SKIP() << "no perf events: " << strerror(errno);
  constexpr int kRuns = 40, kPages = 3000;
  double sum = 0, squares = 0;
  for (uint64_t seed = 1; seed <= kRuns; ++seed) {
    ASSERT_TRUE(OpenCounters());
    const Estimate estimate = OneInTen(seed, kPages);
    sum += estimate.pages;
    squares += estimate.pages * estimate.pages;
    EXPECT_LT(estimate.entries, kPages / 6u);
    EXPECT_TRUE(estimate.all_before);
  }
  const double mean = sum / kRuns;
  const double error = std::sqrt((squares / kRuns - mean * mean) / (kRuns - 1));
  EXPECT_NEAR(mean, kPages, 3 * error);
  // A run is off by 122, as of each ten pages five are touched.
  EXPECT_LT(error, 30);
}

}  // namespace
}  // namespace pymemrun
