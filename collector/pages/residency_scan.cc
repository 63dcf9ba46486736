#include "collector/pages/residency_scan.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "collector/process/monotonic_clock.h"
#include "format/batches/residency.h"
#include "format/trace.pb.h"

namespace pymemrun {
namespace {

// Sizes of the buffers for one ioctl, and for one read of pagemap.
constexpr size_t kRegionsAtOnce = 1024;
constexpr size_t kEntriesAtOnce = 8192;
// Bytes of address space per ioctl. The kernel walks 64 MiB of pages in some 3
// ms; between pieces the collector drains the rings.
constexpr uint64_t kPieceBytes = uint64_t{64} << 20;
// Most pieces of a mapping: a huge, mostly empty mapping is walked in larger
// pieces.
constexpr uint64_t kMaxPieces = 4096;
// Without the ioctl (before Linux 6.7), each page of a mapping is an entry of 8
// bytes that must be read. Mappings with more pages than this are reserved
// address space, mostly not resident: they are skipped.
constexpr uint64_t kMaxEntriesOfMapping = uint64_t{1} << 24;

// Pages of a huge page of 2 MiB, with pages of 4 KiB.
constexpr uint64_t kPiecePages = 512;

// Shortest time between two scans.
constexpr uint64_t kLookPeriodNs = 20000000;
// Limit of the cost: at most 1 / kCostFactor = 5 % of one CPU.
constexpr uint64_t kCostFactor = 20;
// RSS that differs from the expected value by less than this is explained:
// statm and the counts are not read at the same moment. The larger of 1 MiB and
// 2 % of RSS.
constexpr uint64_t kBlurBytes = uint64_t{1} << 20;
constexpr uint64_t kBlurFraction = 50;

bool Fail(int why) {
  errno = why;
  return false;
}

uint32_t FlagsOf(uint64_t categories) {
  return ((categories & kPageIsFile) != 0 ? Residency::FILE_BACKED : 0) |
         ((categories & kPageIsHuge) != 0 ? Residency::HUGE : 0);
}

}  // namespace

void ResidencyAnswer::Include(const ResidentPages& pages) {
  // Goes through the ranges that overlap `pages`, from the first that ends
  // behind its start, and inserts the gaps between them. `rest` is the part not
  // handled yet.
  ResidentPages rest = pages;
  auto at = std::partition_point(
      ranges.begin(), ranges.end(),
      [&](const ResidentPages& range) { return range.end <= pages.begin; });
  while (at != ranges.end() && at->begin < pages.end) {
    const uint64_t there = at->begin, there_until = at->end;
    if (rest.begin < there) {
      ResidentPages before = rest;
      before.end = there;
      at = ranges.insert(at, before) + 1;
    }
    rest.begin = there_until;
    ++at;
  }
  if (rest.begin < rest.end) ranges.insert(at, rest);
}

void WriteResidency(const ResidencyAnswer& answer, uint32_t page_bytes,
                    const ClockScale& clock, RecordSink* out) {
  Record record;
  Residency* residency = record.mutable_residency();
  residency->set_begin_us(clock.MicrosOfMonotonic(answer.begin_ns));
  residency->set_time_us(clock.MicrosOfMonotonic(answer.end_ns));
  residency->set_rss_bytes(answer.rss_bytes);
  ResidencyEncoder ranges(residency);
  for (const ResidentPages& range : answer.ranges) {
    const uint64_t page = range.begin / page_bytes;
    ranges.Add({page, range.end / page_bytes - page, range.mapping,
                (range.flags & Residency::FILE_BACKED) != 0,
                (range.flags & Residency::HUGE) != 0});
  }
  // A dropped record counts as one page event.
  out->Write(record.SerializeAsString(), {.page_events = 1});
}

ResidencyScan::ResidencyScan(pid_t pid, uint32_t page_bytes,
                             MappingTable* mappings)
    : page_bytes_(page_bytes),
      mappings_(mappings),
      pagemap_(pid, "pagemap"),
      statm_(pid, "statm") {}

// The answer has one region if the page is present, otherwise none.
absl::optional<bool> ResidencyScan::IsHuge(uint64_t address) {
  if (use_entries_ || pagemap_.fd() < 0) return absl::nullopt;
  PageRegion region = {};
  PagemapScan scan = {};
  scan.begin = address / page_bytes_ * page_bytes_;
  scan.end = scan.begin + page_bytes_;
  scan.regions = reinterpret_cast<uintptr_t>(&region);
  scan.regions_max = 1;
  scan.category_mask = kPageIsPresent;
  scan.return_mask = kPageIsHuge;
  if (ioctl(pagemap_.fd(), kPagemapScan, &scan) != 1) return absl::nullopt;
  return (region.categories & kPageIsHuge) != 0;
}

// A buffer on the stack, because most questions are about few pages.
void ResidencyScan::FindZeroPages(uint64_t begin, uint64_t end,
                                  std::vector<PageRegion>* found) {
  if (use_entries_ || pagemap_.fd() < 0) return;
  PageRegion regions[kPiecePages];
  PagemapScan scan = {};
  scan.begin = begin / page_bytes_ * page_bytes_;
  scan.end = end;
  scan.regions = reinterpret_cast<uintptr_t>(regions);
  scan.regions_max = kPiecePages;
  scan.category_mask = kPageIsPresent;
  scan.return_mask = kPageIsPresent | kPageIsZeroPage;
  while (scan.begin < scan.end) {
    const int count = ioctl(pagemap_.fd(), kPagemapScan, &scan);
    if (count < 0 || scan.walk_end <= scan.begin) return;
    found->insert(found->end(), regions, regions + count);
    scan.begin = scan.walk_end;
  }
}

// One ioctl serves all faults in the same 2 MiB. The buffer has a region for
// each of its pages, so no answer is cut off.
PageRegion ResidencyScan::FilePagesAround(uint64_t address) {
  if (use_entries_ || pagemap_.fd() < 0) return {};
  PagemapScan scan = {};
  scan.begin = address & ~(kPiecePages * page_bytes_ - 1);
  scan.end = scan.begin + kPiecePages * page_bytes_;
  if (scan.end != around_end_) {
    around_.resize(kPiecePages);
    scan.regions = reinterpret_cast<uintptr_t>(around_.data());
    scan.regions_max = kPiecePages;
    scan.category_mask = kPageIsPresent | kPageIsFile;
    around_.resize(std::max(ioctl(pagemap_.fd(), kPagemapScan, &scan), 0));
    around_end_ = scan.end;
  }
  for (const PageRegion& pages : around_) {
    if (pages.begin <= address && address < pages.end) return pages;
  }
  return {};
}

// The second field of /proc/PID/statm, in pages (proc(5)).
uint64_t ResidencyScan::RssBytes() {
  char buffer[256];
  const std::vector<absl::string_view> fields =
      absl::StrSplit(statm_.Read(buffer, sizeof(buffer)), ' ');
  uint64_t pages = 0;
  if (fields.size() < 2 || !absl::SimpleAtoi(fields[1], &pages)) return 0;
  return pages * page_bytes_;
}

bool ResidencyScan::Read(absl::FunctionRef<void()> meanwhile,
                         ResidencyAnswer* answer) {
  answer->ranges.clear();
  answer->begin_ns = MonotonicNs();
  if (pagemap_.fd() < 0 || !mappings_->Refresh()) return false;
  // A copy: `meanwhile` may ask for a mapping that is new, which changes the
  // table.
  scanned_ = mappings_->mappings();
  for (const Mapping& mapping : scanned_) {
    if (mapping.counted && !ReadMapping(mapping, meanwhile, answer))
      return false;
  }
  answer->end_ns = MonotonicNs();
  return true;
}

// ENOTTY or EINVAL: this kernel does not know the ioctl. Then all mappings are
// read as entries, from this one on.
bool ResidencyScan::ReadMapping(const Mapping& mapping,
                                absl::FunctionRef<void()> meanwhile,
                                ResidencyAnswer* answer) {
  if (!use_entries_) {
    if (ScanMapping(mapping, meanwhile, answer)) return true;
    if (errno != ENOTTY && errno != EINVAL) return false;
    use_entries_ = true;
  }
  return ReadEntries(mapping, answer);
}

bool ResidencyScan::ScanMapping(const Mapping& mapping,
                                absl::FunctionRef<void()> meanwhile,
                                ResidencyAnswer* answer) {
  regions_.resize(kRegionsAtOnce);
  PagemapScan scan = {};
  scan.regions = reinterpret_cast<uintptr_t>(regions_.data());
  scan.regions_max = regions_.size();
  // PAGEMAP_SCAN selects pages that have all categories of category_mask, with
  // those of category_inverted inverted: present, and not the zero page.
  scan.category_mask = kPageIsPresent | kPageIsZeroPage;
  scan.category_inverted = kPageIsZeroPage;
  scan.return_mask = kPageIsFile | kPageIsHuge;
  // A mapping much larger than memory is mostly empty and walked quickly, so
  // its pieces are larger.
  const uint64_t piece =
      std::max(kPieceBytes, (mapping.end - mapping.begin) / kMaxPieces /
                                page_bytes_ * page_bytes_);
  for (scan.begin = mapping.begin; scan.begin < mapping.end;) {
    scan.end = std::min(mapping.end, scan.begin + piece);
    walked_bytes_ += scan.end - scan.begin;
    if (!ScanPiece(&scan, mapping, answer)) return false;
    if (walked_bytes_ < kPieceBytes) continue;
    walked_bytes_ = 0;
    meanwhile();
  }
  return true;
}

bool ResidencyScan::ScanPiece(PagemapScan* scan, const Mapping& mapping,
                              ResidencyAnswer* answer) {
  while (scan->begin < scan->end) {
    const int count = ioctl(pagemap_.fd(), kPagemapScan, scan);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    for (int i = 0; i < count; ++i) {
      if (!Add(regions_[i], mapping, answer)) return Fail(E2BIG);
    }
    // The kernel stops early when `regions` is full; walk_end is where to
    // continue. Without progress this would loop forever.
    if (scan->walk_end <= scan->begin) return Fail(EIO);
    scan->begin = scan->walk_end;
  }
  return true;
}

// The entries of pagemap are 64 bits for each page, see
// Documentation/admin-guide/mm/pagemap.rst of the kernel.
bool ResidencyScan::ReadEntries(const Mapping& mapping,
                                ResidencyAnswer* answer) {
  const uint64_t first = mapping.begin / page_bytes_;
  const uint64_t end = mapping.end / page_bytes_;
  if (end - first > kMaxEntriesOfMapping) return true;
  entries_.resize(kEntriesAtOnce);
  for (uint64_t page = first; page < end;) {
    const size_t wanted = std::min<uint64_t>(end - page, kEntriesAtOnce);
    const ssize_t got =
        pread(pagemap_.fd(), entries_.data(), wanted * sizeof(uint64_t),
              static_cast<off_t>(page * sizeof(uint64_t)));
    if (got < 0 && errno == EINTR) continue;
    // Not readable ([vsyscall]), or unmapped in the meantime: no error.
    if (got < static_cast<ssize_t>(sizeof(uint64_t))) return true;
    for (size_t i = 0; i < got / sizeof(uint64_t); ++i, ++page) {
      if ((entries_[i] & kPagemapPresent) == 0) continue;
      const uint64_t categories =
          (entries_[i] & kPagemapFile) != 0 ? kPageIsFile : 0;
      const PageRegion region = {page * page_bytes_, (page + 1) * page_bytes_,
                                 categories};
      if (!Add(region, mapping, answer)) return false;
    }
  }
  return true;
}

// Appends a region. The scan goes upwards, so only the last range can touch it.
bool ResidencyScan::Add(const PageRegion& region, const Mapping& mapping,
                        ResidencyAnswer* answer) {
  std::vector<ResidentPages>& ranges = answer->ranges;
  const uint32_t flags = FlagsOf(region.categories);
  uint64_t begin = region.begin;
  if (!ranges.empty()) {
    ResidentPages& last = ranges.back();
    // Mappings may change between two reads, but ranges must not overlap: cuts
    // off what the last range covers, then joins equal neighbours.
    begin = std::max(begin, last.end);
    if (begin >= region.end) return true;
    if (last.end == begin && last.flags == flags &&
        last.mapping == mapping.name) {
      last.end = region.end;
      return true;
    }
  }
  if (ranges.size() >= kMaxRanges) return false;
  ranges.push_back({begin, region.end, mapping.name, flags});
  return true;
}

bool ResidencySchedule::IsUnexplained(uint64_t rss_bytes) const {
  const uint64_t blur = std::max(kBlurBytes, rss_bytes / kBlurFraction);
  // RSS must be between `least` and `most`: the last answer plus everything
  // that came, with and without everything that may have left.
  const uint64_t most = rss_bytes_ + came_bytes_;
  const uint64_t least = most - std::min(most, left_bytes_);
  return rss_bytes > most + blur || rss_bytes + blur < least;
}

bool ResidencySchedule::IsDue(uint64_t now_ns, uint64_t rss_bytes) const {
  if (now_ns < next_look_ns_ || rss_bytes == 0) return false;
  const bool moved = rss_bytes != rss_bytes_ || came_bytes_ + left_bytes_ != 0;
  // Regular scans are skipped while nothing moved. Earlier ones are done only
  // if RSS is unexplained.
  if (now_ns >= next_regular_ns_) return moved;
  return IsUnexplained(rss_bytes);
}

// The next scan waits for the longest of three limits: the shortest period, the
// share of a CPU, and the rate of ranges.
void ResidencySchedule::Asked(uint64_t begin_ns, uint64_t end_ns,
                              uint64_t cpu_ns, uint64_t rss_bytes,
                              size_t ranges) {
  const uint64_t pause =
      std::max({kLookPeriodNs, kCostFactor * cpu_ns, kRangeNs * ranges});
  next_look_ns_ = end_ns + pause;
  next_regular_ns_ = std::max(next_look_ns_, begin_ns + kRegularPeriodNs);
  rss_bytes_ = rss_bytes;
  came_bytes_ = left_bytes_ = 0;
}

}  // namespace pymemrun
