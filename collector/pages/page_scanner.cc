#include "collector/pages/page_scanner.h"

#include <algorithm>
#include <utility>

#include "collector/process/process_watch.h"

namespace pymemrun {
namespace {

// Distance of two scans for new highs.
constexpr uint64_t kHighPeriodNs = 10000000;
// Limits of the cost, as parts of one CPU.
constexpr uint64_t kRegularCostFactor = 50;
constexpr uint64_t kHighCostFactor = 20;
// A new high of RSS is above the previous one by 1 MiB and by 2 %.
constexpr uint64_t kLeastStepBytes = uint64_t{1} << 20;
constexpr uint64_t kStepFraction = 50;  // 2 % of RSS
// A found answer must be higher by this fraction of a step.
constexpr uint64_t kFoundFraction = 32;

// Scans of one answer, if pages leave while the kernel looks.
constexpr int kTries = 3;
// Bounds for what the program may report of unmapped files.
constexpr size_t kMostFound = size_t{1} << 16;
// Above every user address, also with five levels of page tables.
constexpr uint64_t kAddressesEnd = uint64_t{1} << 57;
constexpr uint64_t kStepNs = 1000;  // readers have microseconds

uint64_t StepOf(uint64_t rss_bytes) {
  return std::max(kLeastStepBytes, rss_bytes / kStepFraction);
}

uint64_t BytesOf(const ResidencyAnswer& answer) {
  uint64_t bytes = 0;
  for (const ResidentPages& range : answer.ranges) {
    bytes += range.end - range.begin;
  }
  return bytes;
}

}  // namespace

// Both conditions need the pause after the previous scan, which bounds the
// cost.
bool ScanSchedule::IsDue(uint64_t now_ns, uint64_t rss_bytes) const {
  if (now_ns < next_look_ns_ || rss_bytes == 0) return false;
  if (IsNewHigh(rss_bytes)) return true;
  return now_ns >= next_regular_ns_ && rss_bytes != rss_bytes_;
}

bool ScanSchedule::IsNewHigh(uint64_t rss_bytes) const {
  return rss_bytes > highest_bytes_ + StepOf(highest_bytes_);
}

bool ScanSchedule::IsFoundHigh(uint64_t rss_bytes) const {
  return rss_bytes > highest_bytes_ + StepOf(highest_bytes_) / kFoundFraction;
}

void ScanSchedule::Asked(uint64_t now_ns, uint64_t cpu_ns, uint64_t rss_bytes,
                         size_t ranges) {
  const uint64_t least = std::max(kHighPeriodNs, kRangeNs * ranges);
  next_look_ns_ = now_ns + std::max(least, kHighCostFactor * cpu_ns);
  next_regular_ns_ = std::max(
      next_look_ns_,
      now_ns + std::max(kRegularPeriodNs, kRegularCostFactor * cpu_ns));
  rss_bytes_ = rss_bytes;
  highest_bytes_ = std::max(highest_bytes_, rss_bytes);
}

PageScanner::PageScanner(const SourceParts& parts)
    : parts_(parts),
      scan_(parts.pid, parts.page_bytes, parts.side->mappings()),
      stats_(parts.pid) {
  parts.side->Subscribe(this, {SideKind::kFileFound});
}

void PageScanner::TakeItem(const SideItemView& item, uint32_t) {
  if (found_ranges_ == kMostFound) return;
  const auto file = item.As<SideFileFound>();
  ++found_ranges_;
  if (found_.empty() || found_.back().time_ns != item.time_ns) {
    found_.push_back({item.time_ns, file.rss_bytes, {}});
  }
  found_.back().pages.push_back({file.address, file.address + file.bytes});
}

// A scan never sees a file that was mapped and unmapped between two scans. So
// two answers are made from the last one: with the pages of the file at their
// release, and without them a microsecond later.
void PageScanner::WriteFound() {
  for (const Found& found : std::exchange(found_, {})) {
    if (last_.end_ns == 0 || !schedule_.IsFoundHigh(found.rss_bytes)) {
      continue;
    }
    schedule_.WasHigh(found.rss_bytes);
    ResidencyAnswer then = last_;
    then.begin_ns = then.end_ns =
        std::max(found.time_ns, last_.end_ns + kStepNs);
    then.rss_bytes = found.rss_bytes;
    uint64_t bytes = 0;
    for (const AddressRange& pages : found.pages) {
      if (pages.end <= pages.begin || pages.end > kAddressesEnd) continue;
      const uint32_t name =
          parts_.side->mappings()->NameAt(pages.begin, found.time_ns);
      then.Include({pages.begin, pages.end, name, Residency::FILE_BACKED});
      bytes += pages.end - pages.begin;
    }
    ResidencyAnswer after = last_;
    after.begin_ns = after.end_ns = then.end_ns + kStepNs;
    after.rss_bytes = found.rss_bytes - std::min(found.rss_bytes, bytes);
    Write(then);
    Write(after);
  }
  found_ranges_ = 0;
}

void PageScanner::Write(const ResidencyAnswer& answer) {
  WriteResidency(answer, parts_.page_bytes, *parts_.clock, parts_.out);
}

void PageScanner::AskIfDue(uint64_t now_ns) {
  parts_.side->Drain(now_ns, false);
  WriteFound();
  if (now_ns < std::max(next_statm_ns_, schedule_.next_look_ns())) return;
  next_statm_ns_ = now_ns + kStatmPeriodNs;
  if (schedule_.IsDue(now_ns, scan_.RssBytes())) Ask();
}

// RSS and the scan are not of one moment. The scan is repeated if it found
// clearly more pages than RSS has afterwards, because pages have left since.
void PageScanner::AskAsOf(uint64_t time_ns) {
  parts_.side->Drain(MonotonicNs(), false);
  WriteFound();
  asked_at_end_ |= time_ns != 0;
  ResidencyAnswer answer;
  const uint64_t cpu_ns = ThreadCpuNs();
  for (int tries = 0; tries < kTries; ++tries) {
    const uint64_t before_bytes = scan_.RssBytes();
    const bool answered = scan_.Read([] {}, &answer);
    // The process is gone where this is 0.
    const uint64_t rss_bytes = answered ? scan_.RssBytes() : 0;
    const uint64_t found_bytes = BytesOf(answer);
    // If pages became resident during the scan, RSS is what was found.
    answer.rss_bytes =
        std::clamp(found_bytes, std::min(before_bytes, rss_bytes), rss_bytes);
    // More pages than RSS has now: some left during the scan.
    if (found_bytes <= rss_bytes + StepOf(rss_bytes)) break;
  }
  schedule_.Asked(MonotonicNs(), ThreadCpuNs() - cpu_ns, answer.rss_bytes,
                  answer.ranges.size());
  if (answer.rss_bytes == 0 || !WasOfProgram(*parts_.page, &stats_)) return;
  // The answer that the program waits for comes next, and is of before.
  if (parts_.page->finalize_ns.load() != 0 && !asked_at_end_) return;
  if (time_ns != 0) answer.begin_ns = answer.end_ns = time_ns;
  Write(answer);
  last_ = std::move(answer);
}

}  // namespace pymemrun
