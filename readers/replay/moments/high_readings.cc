#include "readers/replay/moments/high_readings.h"

#include <algorithm>
#include <utility>

namespace pymemrun {
namespace {

// As in find_peak.cc: the usual difference between VmHWM and RSS.
constexpr uint64_t kNearPeakBytes = 1 << 20;
// How far back a late reading is sorted in.
constexpr size_t kLast = 1024;

}  // namespace

bool HighReadings::IsNear(uint64_t bytes, uint64_t peak_bytes) {
  return bytes + std::max(kNearPeakBytes, peak_bytes / 100) >= peak_bytes;
}

void HighReadings::AddRss(uint64_t time_us, uint64_t bytes) {
  Add({time_us, bytes});
}

void HighReadings::AddHwm(uint64_t after_us, uint64_t time_us,
                          uint64_t hwm_bytes, uint64_t rss_bytes) {
  const bool fell = rss_bytes != 0 && !IsNear(rss_bytes, hwm_bytes);
  Add({time_us, hwm_bytes, after_us, fell ? hwm_bytes - rss_bytes : 0});
}

// Readings come nearly in the order of time, so the place is found from the
// end.
void HighReadings::Add(const Reading& reading) {
  highest_bytes_ = std::max(highest_bytes_, reading.bytes);
  auto at = readings_.end();
  while (at != readings_.begin() && (at - 1)->time_us > reading.time_us) --at;
  readings_.insert(at, reading);
  if (readings_.size() >= full_at_) DropLow();
}

// Keeps only the readings at which RSS becomes high or low: others between
// equal neighbours add nothing. The limit doubles, so the work stays linear.
void HighReadings::DropLow() {
  const auto is_near = [this](const Reading& one) {
    return IsNear(one.bytes, highest_bytes_);
  };
  std::vector<Reading> kept = {readings_.front()};
  for (size_t i = 1; i + 1 < readings_.size(); ++i) {
    const bool near = is_near(readings_[i]);
    if (i + kLast >= readings_.size() || near != is_near(readings_[i - 1]) ||
        near != is_near(readings_[i + 1])) {
      kept.push_back(readings_[i]);
    }
  }
  kept.push_back(readings_.back());
  readings_ = std::move(kept);
  full_at_ = std::max<size_t>(full_at_, 2 * readings_.size());
}

// A stretch goes on while readings are near the peak. It also ends where VmHWM
// was near it, but RSS, read at the same time, had fallen.
std::vector<RssStretch> HighReadings::Near(uint64_t peak_bytes) const {
  std::vector<RssStretch> stretches;
  bool is_high = false;
  uint64_t after_us = 0;
  // The most that RSS was just before after_us.
  uint64_t before_bytes = peak_bytes;
  for (const Reading& one : readings_) {
    const bool is_near = IsNear(one.bytes, peak_bytes);
    const uint64_t end_us = one.time_us + 1;
    if (is_near && !is_high) {
      const uint64_t last_us = stretches.empty() ? 0 : stretches.back().end_us;
      const uint64_t begin_us = std::min(after_us, one.after_us);
      stretches.push_back({std::max(begin_us, last_us), end_us, 0});
      if (begin_us + 1 >= after_us) {
        stretches.back().rose_bytes = peak_bytes - before_bytes;
      }
    }
    if (is_near) {
      RssStretch& last = stretches.back();
      last.end_us = end_us;
      last.bytes = std::max(last.bytes, one.bytes);
      last.fell_bytes = one.fell_bytes;
    }
    is_high = is_near && one.fell_bytes == 0;
    after_us = end_us;
    before_bytes = one.bytes - one.fell_bytes;
  }
  return stretches;
}

}  // namespace pymemrun
