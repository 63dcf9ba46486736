// Asks the kernel which pages of the traced process are resident, and decides
// when to ask.
#ifndef PYMEMRUN_COLLECTOR_PAGES_RESIDENCY_SCAN_H_
#define PYMEMRUN_COLLECTOR_PAGES_RESIDENCY_SCAN_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/optional.h"
#include "collector/definitions/mapping_table.h"
#include "collector/output/record_sink.h"
#include "collector/process/clock_scale.h"
#include "collector/process/proc_file.h"
#include "tracer/wire/pagemap_scan.h"

namespace pymemrun {

// RSS is read from statm this often, to see whether to scan.
inline constexpr uint64_t kStatmPeriodNs = 5000000;
// The usual time between two scans.
inline constexpr uint64_t kRegularPeriodNs = 250000000;
// For each range of an answer this long passes before the next scan: at most
// 200,000 ranges a second go into the file.
inline constexpr uint64_t kRangeNs = 5000;

struct ResidentPages {
  uint64_t begin;  // addresses
  uint64_t end;
  uint32_t mapping;  // MappingDef.id
  uint32_t flags;    // of Residency.Flag
};

struct ResidencyAnswer {
  uint64_t begin_ns = 0;  // CLOCK_MONOTONIC before the scan
  uint64_t end_ns = 0;    // and after it
  // RSS from statm at end_ns, set by the caller; 0: could not be read.
  uint64_t rss_bytes = 0;
  std::vector<ResidentPages> ranges;  // sorted by address, disjoint

  // Adds resident pages, without the parts that `ranges` already covers.
  void Include(const ResidentPages& pages);
};

// Writes the answer as a Residency record. REQUIRES: `clock` was started, and
// all earlier page events are written.
void WriteResidency(const ResidencyAnswer& answer, uint32_t page_bytes,
                    const ClockScale& clock, RecordSink* out);

// Reads /proc/PID/pagemap. Not thread-safe.
class ResidencyScan {
 public:
  // Most ranges of an answer. Readers refuse larger records.
  static constexpr size_t kMaxRanges = size_t{1} << 18;

  // Keeps files of /proc/PID open. `mappings` must outlive it.
  ResidencyScan(pid_t pid, uint32_t page_bytes, MappingTable* mappings);

  // Scans all mappings. Returns false if the kernel refuses, for instance
  // because the process has ended, or if there are more than kMaxRanges ranges.
  // Pages of zeros that were only read are left out, except before Linux 6.7,
  // which cannot tell them. Calls `meanwhile` every few milliseconds; it may
  // use and change `mappings`, but not call this.
  bool Read(absl::FunctionRef<void()> meanwhile, ResidencyAnswer* answer);
  // Whether the page at this address is part of a huge page of 2 MiB; nullopt
  // if it is not resident any more or the kernel does not tell.
  absl::optional<bool> IsHuge(uint64_t address);
  // Appends the resident pages between two addresses, as pages or runs. Those
  // of the shared zero page have kPageIsZeroPage. Appends nothing before
  // Linux 6.7, which cannot tell them.
  void FindZeroPages(uint64_t begin, uint64_t end,
                     std::vector<PageRegion>* found);
  // Returns the run of resident file pages that holds the address, within its
  // aligned 2 MiB, which is the most that the kernel maps at a fault. Empty
  // (begin = end) if the page is not resident or the kernel does not tell.
  // Results for neighbours are cached until LookAnew().
  PageRegion FilePagesAround(uint64_t address);
  void LookAnew() { around_end_ = 0; }
  // RSS in bytes from statm; 0 if the process has ended.
  uint64_t RssBytes();

  // For tests: behaves as on Linux before 6.7.
  void UseEntries() { use_entries_ = true; }

 private:
  bool ReadMapping(const Mapping& mapping, absl::FunctionRef<void()> meanwhile,
                   ResidencyAnswer* answer);
  bool ScanMapping(const Mapping& mapping, absl::FunctionRef<void()> meanwhile,
                   ResidencyAnswer* answer);
  bool ScanPiece(PagemapScan* scan, const Mapping& mapping,
                 ResidencyAnswer* answer);
  bool ReadEntries(const Mapping& mapping, ResidencyAnswer* answer);
  bool Add(const PageRegion& region, const Mapping& mapping,
           ResidencyAnswer* answer);

  const uint64_t page_bytes_;
  MappingTable* mappings_;
  const ProcFile pagemap_;
  const ProcFile statm_;
  bool use_entries_ = false;
  std::vector<Mapping> scanned_;  // as they were when the scan began
  uint64_t walked_bytes_ = 0;     // since the last call of `meanwhile`
  std::vector<PageRegion> regions_;
  std::vector<uint64_t> entries_;
  // Cache of FilePagesAround(): runs of file pages in the aligned 2 MiB that
  // end at around_end_. 0: empty.
  std::vector<PageRegion> around_;
  uint64_t around_end_ = 0;
};

// Decides when to scan: as often as it is useful, at a bounded cost. Not
// thread-safe.
class ResidencySchedule {
 public:
  // Count bytes since the last answer. Came(): pages that became resident, one
  // page at a time. CameNot(): takes back what was not a page. Left(): upper
  // bound of pages that were released.
  void Came(uint64_t bytes) { came_bytes_ += bytes; }
  void CameNot(uint64_t bytes) { came_bytes_ -= std::min(came_bytes_, bytes); }
  void Left(uint64_t bytes) { left_bytes_ += bytes; }
  // Whether `rss_bytes`, from statm, contradicts the last answer plus the bytes
  // counted since.
  bool IsUnexplained(uint64_t rss_bytes) const;
  // Whether to scan now.
  bool IsDue(uint64_t now_ns, uint64_t rss_bytes) const;
  // A scan has ended with `ranges` ranges; 0: it failed. `cpu_ns` is the CPU
  // time it took.
  void Asked(uint64_t begin_ns, uint64_t end_ns, uint64_t cpu_ns,
             uint64_t rss_bytes, size_t ranges);

 private:
  uint64_t next_look_ns_ = 0;
  uint64_t next_regular_ns_ = 0;
  uint64_t rss_bytes_ = 0;  // at the last answer; since then:
  uint64_t came_bytes_ = 0, left_bytes_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PAGES_RESIDENCY_SCAN_H_
