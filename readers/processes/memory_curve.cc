#include "readers/processes/memory_curve.h"

#include <algorithm>

namespace pymemrun {
namespace {

constexpr int kParts = 5;
// Of three steps, each is as much of the whole. Imports grow at first alone.
constexpr uint64_t kLeastStepParts = 10;
// Whatever a file says: the sum of many processes fits into 64 bits.
constexpr uint64_t kMostBytes = uint64_t{1} << 50;

uint64_t Distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

}  // namespace

void MemoryCurve::Add(const MemoryReading& found) {
  const MemoryReading reading = {found.time_us,
                                 std::min(found.rss_bytes, kMostBytes),
                                 std::min(found.pss_bytes, kMostBytes)};
  highest_pss_ = std::max(highest_pss_, reading.pss_bytes);
  last_rss_bytes_ = reading.rss_bytes;
  if (readings_.size() >= kMaxReadings) Thin();
  readings_.push_back(reading);
}

void MemoryCurve::AddRss(uint64_t time_us, uint64_t rss_bytes) {
  if (Distance(rss_bytes, last_rss_bytes_) < least_step_bytes_) return;
  Add({time_us, rss_bytes, 0});
}

// Every other one stays.
void MemoryCurve::Thin() {
  least_step_bytes_ *= 2;
  size_t kept = 0;
  for (size_t i = 0; i < readings_.size(); ++i) {
    if (i % 2 == 0) readings_[kept++] = readings_[i];
  }
  readings_.resize(kept);
}

std::vector<MemoryStep> MemoryCurve::Shares(bool forked) const {
  std::vector<MemoryReading> readings = readings_;
  std::stable_sort(readings.begin(), readings.end(),
                   [](const MemoryReading& a, const MemoryReading& b) {
                     return a.time_us < b.time_us;
                   });
  // Of a moment whose share is known, and RSS then.
  uint64_t share = 0, rss = 0;
  if (forked && !readings.empty()) rss = readings.front().rss_bytes;
  std::vector<MemoryStep> steps;
  for (const MemoryReading& reading : readings) {
    if (reading.pss_bytes != 0) {
      share = reading.pss_bytes;
      rss = reading.rss_bytes;
    }
    const uint64_t bytes = share + reading.rss_bytes;
    steps.push_back({reading.time_us, bytes > rss ? bytes - rss : 0});
  }
  return steps;
}

uint64_t SteadyGrowth(const std::vector<MemoryStep>& steps, uint64_t begin_us,
                      uint64_t end_us) {
  if (end_us <= begin_us || end_us - begin_us < kParts) return 0;
  uint64_t least[kParts];
  std::fill(least, least + kParts, UINT64_MAX);
  for (size_t i = 0; i < steps.size(); ++i) {
    const uint64_t from = std::max(steps[i].time_us, begin_us);
    const uint64_t to = i + 1 < steps.size() ? steps[i + 1].time_us : end_us;
    if (from >= end_us || to <= begin_us) continue;
    // It lasts over all parts that it touches.
    const uint64_t part_us = (end_us - begin_us) / kParts;
    const uint64_t first = (from - begin_us) / part_us;
    const uint64_t last = (std::min(to, end_us) - begin_us - 1) / part_us;
    for (uint64_t part = first; part <= last && part < kParts; ++part) {
      least[part] = std::min(least[part], steps[i].bytes);
    }
  }
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
