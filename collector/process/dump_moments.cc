#include "collector/process/dump_moments.h"

#include <algorithm>

namespace pymemrun {
namespace {

// A peak is worth a new dump when RSS is so much above the last one's, and not
// more often: a dump takes the program some milliseconds. One that is higher by
// half waits less, as it may be over soon.
constexpr uint64_t kPeakBytes = uint64_t{16} << 20;
constexpr uint64_t kPeakNs = 2000000000;
constexpr uint64_t kHighPeakNs = 500000000;

}  // namespace

bool DumpMoments::IsTime(uint64_t now_ns) {
  const uint64_t period_ns = wishes_.every_ms * 1000000;
  if (period_ns == 0) return false;
  if (next_ns_ == 0) next_ns_ = now_ns + period_ns;
  if (now_ns < next_ns_) return false;
  next_ns_ = now_ns + period_ns;
  return true;
}

bool DumpMoments::RoseAbove(uint64_t rss_bytes) {
  if (wishes_.rss_above_bytes == 0) return false;
  const bool was_above = above_;
  above_ = rss_bytes > wishes_.rss_above_bytes;
  return above_ && !was_above;
}

bool DumpMoments::IsNewPeak(uint64_t now_ns, uint64_t rss_bytes) {
  if (!wishes_.at_peak ||
      rss_bytes < peak_bytes_ + std::max(kPeakBytes, peak_bytes_ / 10)) {
    return false;
  }
  const bool is_high = rss_bytes >= peak_bytes_ + peak_bytes_ / 2;
  if (peak_ns_ != 0 && now_ns < peak_ns_ + (is_high ? kHighPeakNs : kPeakNs)) {
    return false;
  }
  peak_bytes_ = rss_bytes;
  peak_ns_ = now_ns;
  return true;
}

absl::optional<DumpReason> DumpMoments::Due(uint64_t now_ns,
                                            uint64_t rss_bytes) {
  const bool is_time = IsTime(now_ns);
  const bool rose = rss_bytes != 0 && RoseAbove(rss_bytes);
  const bool is_peak = rss_bytes != 0 && IsNewPeak(now_ns, rss_bytes);
  if (rose) return DumpReason::kRssAbove;
  if (is_time) return DumpReason::kEvery;
  if (is_peak) return DumpReason::kAtPeak;
  return absl::nullopt;
}

}  // namespace pymemrun
