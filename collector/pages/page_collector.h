// Page events in the collector: from samples and answers of the kernel and from
// stacks of signals to records of the run file.
#ifndef PYMEMRUN_COLLECTOR_PAGES_PAGE_COLLECTOR_H_
#define PYMEMRUN_COLLECTOR_PAGES_PAGE_COLLECTOR_H_

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/output/source.h"
#include "collector/pages/fault_looks.h"
#include "collector/pages/page_encoder.h"
#include "collector/pages/page_matcher.h"
#include "collector/pages/page_rings.h"
#include "collector/pages/page_sampler.h"
#include "collector/pages/residency_scan.h"
#include "collector/pages/signal_rate.h"
#include "collector/process/monotonic_clock.h"
#include "collector/process/process_stats.h"
#include "collector/side/side_items.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// Limits the memory that populating calls can have filled: a program may forge
// such calls, and each page costs the collector time. Not thread-safe.
class PopulateBudget {
 public:
  // Whether a call can have filled `bytes` since the last call, at `now_ns` of
  // CLOCK_MONOTONIC; if so, counts them. Otherwise the call was forged.
  bool Take(uint64_t bytes, uint64_t now_ns) {
    const uint64_t passed_ns =
        std::min(now_ns - then_ns_, memory_bytes_ / bytes_per_ns_);
    then_ns_ = now_ns;
    bytes_ = std::min(bytes_ + passed_ns * bytes_per_ns_, memory_bytes_);
    if (bytes > bytes_) {
      ++refused_;
      return false;
    }
    bytes_ -= bytes;
    return true;
  }

  uint64_t refused() const { return refused_; }  // refused calls

 private:
  // No processor fills memory faster, and no call fills more than there is.
  static constexpr uint64_t kProcessorBytesPerNs = 64;

  const uint64_t bytes_per_ns_ =
      kProcessorBytesPerNs *
      static_cast<uint64_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  const uint64_t memory_bytes_ =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
      static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  uint64_t bytes_ = 0, then_ns_ = 0;
  uint64_t refused_ = 0;
};

// The source of page events. It drains the side ring itself.
class PageCollector final : public Source,
                            public SideTaker,
                            private PageMatcher::Output {
 public:
  struct Options : SourceParts {
    int first_fd;       // the first descriptor of the perf events
    uint32_t counters;  // number of those that sample
    uint32_t signals;   // number of those that only signal
    uint32_t weight;    // pages per recorded page; 1: all
    bool forked;        // the process is a child of a traced one
    uint64_t seed;      // of the random choice
  };
  // Maps the perf events and closes their descriptors. All pointers must
  // outlive the result.
  static absl::StatusOr<std::unique_ptr<PageCollector>> Create(
      const Options& options);

  void TakeItem(const SideItemView& item, uint32_t stack) override;
  void Keep(uint64_t now_ns) override { Gather(now_ns); }
  // Scans resident pages. REQUIRES: options.side and options.clock were
  // started.
  void Start() override;
  // Drains the rings. Returns the number of samples and side ring cells.
  size_t Round(uint64_t) override { return Drain(MonotonicNs()); }
  size_t Drain(uint64_t now_ns);
  uint32_t longest_nap_us() const override { return longest_nap_us_; }
  // RSS differs from what page events tell, and a scan is not due yet.
  bool TakeWantsSample() override {
    return std::exchange(rss_has_moved_, false);
  }
  void EndBatch(uint64_t now_ns) override;
  // Scans resident pages; nothing before matched_ns_ is written any more.
  void ProgramEnded(uint64_t time_ns) override {
    asked_at_end_ = true;
    AskResidency(std::max(time_ns, matched_ns_));
  }
  // Scans once more while the program waits.
  void Finish(uint64_t now_ns, bool process_lives) override;
  void AddToFooter(Footer* footer) const override;

 private:
  PageCollector(const Options& options, std::unique_ptr<PageRings> rings);

  // What comes after the program's own code has ended waits for the answer that
  // is of that moment.
  uint64_t BeforeEnd(uint64_t time_ns) const {
    const uint64_t end_ns = options_.page->finalize_ns;
    return asked_at_end_ || end_ns == 0 ? time_ns : std::min(time_ns, end_ns);
  }
  size_t Gather(uint64_t now_ns);
  void TakeTouch(const SideTouch& item, uint32_t stack);
  void TakeFound(const SideFileFound& item);
  void TakeRange(const SideRange& item, uint32_t stack);
  void WriteRange(const PageMark& range);
  void WriteResidency(const ResidencyAnswer& answer);
  void BeginToChoose();
  void CountSamples(uint64_t now_ns, size_t first);
  void NameSamples();
  void Match(uint64_t until_ns);
  void MaybeAskResidency(uint64_t now_ns);
  void AskResidency(uint64_t as_of_ns = 0);
  uint64_t AddRss(ResidencyAnswer* answer);
  void AllowForFaults(ResidencyAnswer* answer);
  PageSpan OnSample(const MatchedSample& sample) override;
  PageSpan FilePagesWith(uint64_t address);
  PageSpan HugePageWith(const MatchedSample& matched);
  bool IsNamed(uint32_t thread) override;
  void OnMark(const PageMark& mark) override;

  const Options options_;
  std::unique_ptr<PageRings> rings_;  // nullptr: there are no counters
  ResidencyScan scan_;
  FaultLooks looks_;
  ProcessStats stats_;
  ResidencySchedule schedule_;
  SignalRate signal_rate_;
  PageMatcher matcher_;
  PageSampler sampler_;
  PageEncoder encoder_;
  uint32_t longest_nap_us_;

  bool started_ = false;
  bool finished_ = false;
  bool asked_at_end_ = false;  // of the program's own code
  bool knows_before_ = false;  // what was there before is written
  std::vector<PageSample> samples_;
  size_t named_ = 0;  // of these
  std::vector<std::pair<uint32_t, PageTouch>> touches_;
  uint64_t complete_ns_ = 0;  // the side ring was empty, and then the others
  uint64_t matched_ns_ = 0;   // what came until then has been written
  std::deque<ResidencyAnswer> answers_;  // not written yet; two marks each
  PopulateBudget budget_;
  uint64_t next_statm_ns_ = 0;
  int put_off_ = 0;  // so often, since it was due
  bool rss_has_moved_ = false;
  uint64_t written_samples_lost_ = 0;
  uint64_t written_stacks_lost_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PAGES_PAGE_COLLECTOR_H_
