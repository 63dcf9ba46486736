#include "readers/across_runs/processes/memory_curve.h"

#include <algorithm>

namespace pymemrun {
namespace {

// The first part is start-up; the other four show three rises.
constexpr int kParts = 5;
// Growth has to rise in three steps, each at least this part of the whole.
// Imports grow only at first.
constexpr uint64_t kLeastStepParts = 6;
// Bounds what a file says: the sum of many processes fits into 64 bits.
constexpr uint64_t kMostBytes = uint64_t{1} << 50;

uint64_t Distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

// `bytes` changed in proportion to something that went from `from` to `to`; at
// least 0.
uint64_t Moved(uint64_t bytes, uint64_t from, uint64_t to) {
  const uint64_t sum = bytes + to;
  return sum > from ? sum - from : 0;
}

// The value nearest to `bytes` between these two.
uint64_t Between(uint64_t a, uint64_t b, uint64_t bytes) {
  return std::clamp(bytes, std::min(a, b), std::max(a, b));
}

// For each reading, the next known RSS from it on; 0: it was not read.
std::vector<uint64_t> NextRss(const std::vector<MemoryReading>& readings) {
  std::vector<uint64_t> next(readings.size());
  uint64_t rss_bytes = 0;
  for (size_t i = readings.size(); i-- > 0;) {
    if (readings[i].rss_bytes != 0) rss_bytes = readings[i].rss_bytes;
    next[i] = rss_bytes;
  }
  return next;
}

// The part of RSS that was shared when PSS was first read. Unrelated processes
// share only pages of files.
uint64_t SharedFiles(const std::vector<MemoryReading>& readings) {
  for (const MemoryReading& reading : readings) {
    if (reading.pss_bytes == 0) continue;
    return std::min(reading.file_bytes,
                    Moved(reading.rss_bytes, reading.pss_bytes, 0));
  }
  return 0;
}

}  // namespace

void MemoryCurve::Add(const MemoryReading& found) {
  MemoryReading reading = found;
  reading.rss_bytes = std::min(found.rss_bytes, kMostBytes);
  reading.pss_bytes = std::min(found.pss_bytes, kMostBytes);
  highest_pss_ = std::max(highest_pss_, reading.pss_bytes);
  if (reading.rss_bytes != 0) last_rss_bytes_ = reading.rss_bytes;
  if (readings_.size() >= kMaxReadings) Thin();
  readings_.push_back(reading);
}

void MemoryCurve::AddRss(uint64_t time_us, uint64_t rss_bytes) {
  if (Distance(rss_bytes, last_rss_bytes_) < least_step_bytes_) return;
  Add({time_us, rss_bytes, 0});
}

// Drops every other reading.
// With each thinning, later readings must differ by twice as much: the number
// stays bounded, and large changes are kept.
void MemoryCurve::Thin() {
  least_step_bytes_ *= 2;
  size_t kept = 0;
  for (size_t i = 0; i < readings_.size(); ++i) {
    if (i % 2 == 0) readings_[kept++] = readings_[i];
  }
  readings_.resize(kept);
}

std::vector<MemoryReading> MemoryCurve::InOrder() const {
  std::vector<MemoryReading> readings = readings_;
  std::stable_sort(readings.begin(), readings.end(),
                   [](const MemoryReading& a, const MemoryReading& b) {
                     return a.time_us < b.time_us;
                   });
  return readings;
}

std::vector<MemoryStep> MemoryCurve::Rss() const {
  std::vector<MemoryStep> steps;
  for (const MemoryReading& reading : InOrder()) {
    if (reading.rss_bytes == 0) continue;
    steps.push_back({reading.time_us, reading.rss_bytes});
  }
  return steps;
}

// Walks readings in order. Between two readings of PSS it is moved by the
// change of RSS, in the same proportion.
std::vector<MemoryStep> MemoryCurve::Shares(bool forked) const {
  const std::vector<MemoryReading> readings = InOrder();
  const std::vector<uint64_t> next_rss = NextRss(readings);
  // At the last reading of PSS, and at the reading before.
  uint64_t share = 0, rss = 0;
  uint64_t share_now = 0;
  uint64_t rss_now = next_rss.empty() ? 0 : next_rss.front();
  rss = forked ? rss_now : SharedFiles(readings);
  std::vector<MemoryStep> steps;
  for (size_t i = 0; i < readings.size(); ++i) {
    const MemoryReading& reading = readings[i];
    if (reading.rss_bytes != 0) {
      rss_now = reading.rss_bytes;
      // RSS changed unseen: take what PSS implies, but stay between the
      // readings of RSS before and after.
    } else {
      rss_now = Between(rss_now, next_rss[i] != 0 ? next_rss[i] : rss_now,
                        Moved(rss_now, share_now, reading.pss_bytes));
    }
    if (reading.pss_bytes != 0) {
      share = reading.pss_bytes;
      rss = rss_now;
    }
    share_now = Moved(rss_now, rss, share);
    steps.push_back({reading.time_us, share_now});
  }
  return steps;
}

uint64_t SteadySpanUs(uint64_t begin_us, uint64_t end_us) {
  return end_us - std::min(end_us, begin_us + (end_us - begin_us) / kParts);
}

uint64_t SteadyGrowth(const std::vector<MemoryStep>& steps, uint64_t begin_us,
                      uint64_t end_us) {
  // Five parts; the first is start-up. Each part's minimum ignores short peaks.
  if (end_us <= begin_us || end_us - begin_us < kParts) return 0;
  uint64_t least[kParts];
  std::fill(least, least + kParts, UINT64_MAX);
  for (size_t i = 0; i < steps.size(); ++i) {
    const uint64_t from = std::max(steps[i].time_us, begin_us);
    const uint64_t to = i + 1 < steps.size() ? steps[i + 1].time_us : end_us;
    if (from >= end_us || to <= begin_us) continue;
    // It must last through all parts that it touches.
    // Rounding leaves up to four microseconds behind the last part, which count
    // for none.
    const uint64_t part_us = (end_us - begin_us) / kParts;
    const uint64_t first = (from - begin_us) / part_us;
    const uint64_t last = (std::min(to, end_us) - begin_us - 1) / part_us;
    for (uint64_t part = first; part <= last && part < kParts; ++part) {
      least[part] = std::min(least[part], steps[i].bytes);
    }
  }
  // Compared with the second part: the first one is start-up.
  const uint64_t growth = least[kParts - 1] - least[1];
  for (int part = 2; part < kParts; ++part) {
    const bool rose =
        least[part] != UINT64_MAX && least[part] > least[part - 1];
    if (!rose || least[part] - least[part - 1] < growth / kLeastStepParts) {
      return 0;
    }
  }
  return growth;
}

}  // namespace pymemrun
