// Page source where perf is refused: repeatedly asks the kernel which pages are
// resident, and writes the answers. The thread that touched a page is not known
// then; heap blocks tell what was allocated in it.
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

// When to scan: four times a second while RSS changes, at most 2 % of a CPU;
// and when RSS is higher than at all earlier answers, at most 5 %. Not
// thread-safe.
class ScanSchedule {
 public:
  bool IsDue(uint64_t now_ns, uint64_t rss_bytes) const;
  // Whether RSS is significantly higher than at all answers.
  bool IsNewHigh(uint64_t rss_bytes) const;
  // The same for an answer found without a scan, with a lower threshold.
  bool IsFoundHigh(uint64_t rss_bytes) const;
  // RSS was as high as this.
  void WasHigh(uint64_t rss_bytes) { highest_bytes_ = rss_bytes; }
  // A scan has ended; `rss_bytes` 0: it failed. `cpu_ns` is the CPU time it
  // took.
  void Asked(uint64_t now_ns, uint64_t cpu_ns, uint64_t rss_bytes,
             size_t ranges);
  // Time of the next look at RSS.
  uint64_t next_look_ns() const { return next_look_ns_; }

 private:
  uint64_t next_look_ns_ = 0;     // for new highs
  uint64_t next_regular_ns_ = 0;  // for the others
  uint64_t rss_bytes_ = 0;        // of the last answer
  uint64_t highest_bytes_ = 0;    // of all answers
};

// CollectorProcess owns one if the launch text says so, and calls it from its
// one thread.
class PageScanner final : public Source, public SideTaker {
 public:
  // Keeps files of /proc/PID open. All pointers must outlive it.
  explicit PageScanner(const SourceParts& parts);

  // Takes the pages of a file that were resident just before the program
  // released them; scans cannot see these. At a new high of RSS this counts as
  // an answer of its own.
  void TakeItem(const SideItemView& item, uint32_t stack) override;
  void Start() override { Ask(); }
  size_t Round(uint64_t) override {
    AskIfDue(MonotonicNs());
    return 0;
  }
  void ProgramEnded(uint64_t time_ns) override { AskAsOf(time_ns); }
  void Finish(uint64_t, bool) override { Ask(); }

  // REQUIRES for the methods below: the header is written.
  // Scans if it is due, and writes what was taken.
  void AskIfDue(uint64_t now_ns);
  // Scans in any case.
  void Ask() { AskAsOf(0); }
  // Scans, and dates the answer `time_ns`, since when the program has waited.
  // 0: the time of the scan.
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
  ResidencyAnswer last_;      // last answer written
  std::vector<Found> found_;  // not handled yet
  size_t found_ranges_ = 0;   // in found_
  ProcessStats stats_;
  ScanSchedule schedule_;
  uint64_t next_statm_ns_ = 0;
  bool asked_at_end_ = false;  // scanned after the program's own code ended
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PAGES_PAGE_SCANNER_H_
