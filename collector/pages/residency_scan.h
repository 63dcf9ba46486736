// Asks the kernel which pages of the traced process are resident.
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

struct ResidentPages {
  uint64_t begin;  // addresses
  uint64_t end;
  uint32_t mapping;  // MappingDef.id
  uint32_t flags;    // of Residency.Flag
};

struct ResidencyAnswer {
  uint64_t begin_ns = 0;  // CLOCK_MONOTONIC, before the kernel was asked...
  uint64_t end_ns = 0;    // ...and after
  // statm at end_ns; 0: it could not be read. The caller sets it.
  uint64_t rss_bytes = 0;
  std::vector<ResidentPages> ranges;  // in the order of addresses

  // Adds resident pages, as far as they are not in `ranges` yet.
  void Include(const ResidentPages& pages);
};

// Writes the answer. REQUIRES: `clock` was started, and the page events before
// it are written.
void WriteResidency(const ResidencyAnswer& answer, uint32_t page_bytes,
                    const ClockScale& clock, RecordSink* out);

// Not thread safe.
class ResidencyScan {
 public:
  // With more ranges Read() fails: readers refuse so large a record.
  static constexpr size_t kMaxRanges = size_t{1} << 18;

  // Keeps files of /proc/PID open. `mappings` must outlive it.
  ResidencyScan(pid_t pid, uint32_t page_bytes, MappingTable* mappings);

  // False where the kernel does not say, for instance of a process that is
  // gone. Leaves out pages of zeros that were only read, except before Linux
  // 6.7, which cannot tell them. `meanwhile` is called each few milliseconds.
  bool Read(absl::FunctionRef<void()> meanwhile, ResidencyAnswer* answer);
  // Whether the page there is part of a huge page of 2 MiB; nullopt where it is
  // not resident any more, or the kernel does not say.
  absl::optional<bool> IsHuge(uint64_t address);
  // Appends what is resident between two addresses, page by page or in pieces,
  // with kPageIsZeroPage where it is the page of zeros. Nothing where the
  // kernel does not tell these apart, before Linux 6.7.
  void FindZeroPages(uint64_t begin, uint64_t end,
                     std::vector<PageRegion>* found);
  // The run of resident file pages that holds the address, within its aligned
  // 2 MiB: the kernel maps up to so many at a fault. Empty (begin = end) where
  // the page at the address is not resident, or the kernel does not say. It is
  // asked once about neighbours, until LookAnew().
  PageRegion FilePagesAround(uint64_t address);
  void LookAnew() { around_end_ = 0; }
  // RSS as statm has it now; 0 when the process is gone.
  uint64_t RssBytes();

  // For tests: as if Linux were older than 6.7.
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
  uint64_t walked_bytes_ = 0;  // since `meanwhile` was called
  std::vector<PageRegion> regions_;
  std::vector<uint64_t> entries_;
  // Runs of file pages, as the kernel has told them of the aligned 2 MiB that
  // end at around_end_. 0: nothing is known.
  std::vector<PageRegion> around_;
  uint64_t around_end_ = 0;
};

// When to ask: as often as it is worth, at a bounded cost. Not thread safe.
class ResidencySchedule {
 public:
  // The three count bytes since the last answer. Came() takes one page at a
  // time, CameNot() takes back what was no page. Left() is an upper bound.
  void Came(uint64_t bytes) { came_bytes_ += bytes; }
  void CameNot(uint64_t bytes) { came_bytes_ -= std::min(came_bytes_, bytes); }
  void Left(uint64_t bytes) { left_bytes_ += bytes; }
  // Whether `rss_bytes`, statm's, is not what is known makes of it.
  bool IsUnexplained(uint64_t rss_bytes) const;
  // Whether to ask now.
  bool IsDue(uint64_t now_ns, uint64_t rss_bytes) const;
  // An answer came, or none did (`ranges` 0). `cpu_ns`: what it took of a CPU.
  void Asked(uint64_t begin_ns, uint64_t end_ns, uint64_t cpu_ns,
             uint64_t rss_bytes, size_t ranges);

 private:
  uint64_t next_look_ns_ = 0;
  uint64_t next_regular_ns_ = 0;
  uint64_t rss_bytes_ = 0;  // then, and since then:
  uint64_t came_bytes_ = 0, left_bytes_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PAGES_RESIDENCY_SCAN_H_
