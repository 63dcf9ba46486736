// Where perf is refused: asks time and again which pages are there, and writes
// the answers. Nobody sees then who touched a page; the heap's blocks tell who
// allocated what lies in it.
#ifndef PYMEMRUN_COLLECTOR_PAGES_PAGE_SCANNER_H_
#define PYMEMRUN_COLLECTOR_PAGES_PAGE_SCANNER_H_

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "collector/output/source.h"
#include "collector/pages/residency_scan.h"
#include "collector/process/monotonic_clock.h"
#include "collector/process/process_stats.h"
#include "collector/side/side_items.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// When to ask: four times a second while RSS moves, at 2 % of a CPU at most;
// and where RSS is higher than it ever was at an answer, then at 5 %. Not
// thread safe.
class ScanSchedule {
 public:
  bool IsDue(uint64_t now_ns, uint64_t rss_bytes) const;
  // Whether RSS is higher than at all answers, by what matters.
  bool IsNewHigh(uint64_t rss_bytes) const;
  // The same of what was found, which took no question: by less.
  bool IsFoundHigh(uint64_t rss_bytes) const;
  // So high it was meanwhile.
  void WasHigh(uint64_t rss_bytes) { highest_bytes_ = rss_bytes; }
  // An answer came, or none did (`rss_bytes` 0). `cpu_ns`: what it took.
  void Asked(uint64_t now_ns, uint64_t cpu_ns, uint64_t rss_bytes,
             size_t ranges);
  // RSS is worth reading from here on.
  uint64_t next_look_ns() const { return next_look_ns_; }

 private:
  uint64_t next_look_ns_ = 0;     // for new highs
  uint64_t next_regular_ns_ = 0;  // for the others
  uint64_t rss_bytes_ = 0;        // of the last answer
  uint64_t highest_bytes_ = 0;    // of all
};

// CollectorProcess owns one when the launch text says so, and calls it from its
// one thread.
class PageScanner final : public Source, public SideTaker {
 public:
  // Keeps files of /proc/PID open. All pointers must outlive it.
  explicit PageScanner(const SourceParts& parts);

  // What was resident of a file just before the program gave it back: between
  // two answers nobody else sees it. It is an answer of its own at new highs.
  void TakeItem(const SideItemView& item, uint32_t stack) override;
  void Start() override { Ask(); }
  size_t Round(uint64_t) override {
    AskIfDue(MonotonicNs());
    return 0;
  }
  void ProgramEnded(uint64_t time_ns) override { AskAsOf(time_ns); }
  void Finish(uint64_t, bool) override { Ask(); }

  // REQUIRES of all that follow: the header is written.
  // Asks where it is time to, and writes what was taken.
  void AskIfDue(uint64_t now_ns);
  // Asks in any case.
  void Ask() { AskAsOf(0); }
  // And dates the answer to `time_ns`: the program waits since then. 0: to when
  // it was asked.
  void AskAsOf(uint64_t time_ns);

 private:
  // The pages of a file, and RSS, at `time_ns`.
  struct Found {
    uint64_t time_ns, rss_bytes;
    std::vector<AddressRange> pages;
  };

  void WriteFound();
  void Write(const ResidencyAnswer& answer);

  const SourceParts parts_;
  ResidencyScan scan_;
  ResidencyAnswer last_;      // that was written
  std::vector<Found> found_;  // not looked at yet
  size_t found_ranges_ = 0;   // of these
  ProcessStats stats_;
  ScanSchedule schedule_;
  uint64_t next_statm_ns_ = 0;
  bool asked_at_end_ = false;  // of the program's own code
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PAGES_PAGE_SCANNER_H_
