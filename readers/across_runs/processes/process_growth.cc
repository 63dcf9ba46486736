#include "readers/across_runs/processes/process_growth.h"

#include <algorithm>

#include "readers/output/whole_number.h"

namespace pymemrun {
namespace {

constexpr double kLoadedShares[] = {0.5, 0.9};
// Less than such a part of the time shows nothing.
constexpr size_t kLeastTimeParts = 4;

uint64_t Bytes(double bytes) {
  return static_cast<uint64_t>(WholeNumber(bytes));
}

// The first moment at which imports have this share of what they have at most.
size_t LoadedAt(const PlaceCurves& curves, double share) {
  const auto found = curves.bytes.find(NamedPlace(kImports));
  if (found == curves.bytes.end()) return 0;
  const std::vector<double>& bytes = found->second;
  const double most = *std::max_element(bytes.begin(), bytes.end());
  return std::find_if(bytes.begin(), bytes.end(),
                      [=](double now) { return now >= share * most; }) -
         bytes.begin();
}

std::vector<MemoryStep> StepsOf(const std::vector<double>& bytes,
                                const EvenSteps& steps) {
  std::vector<MemoryStep> found;
  for (size_t i = 0; i < steps.count; ++i) {
    found.push_back(
        {i * steps.step_us, i < bytes.size() ? Bytes(bytes[i]) : 0});
  }
  return found;
}

// From one moment to the last one; 0 where it shrank.
double Gain(const std::vector<double>& bytes, size_t from, size_t count) {
  if (bytes.size() < count) return 0;
  return std::max(bytes[count - 1] - bytes[from], 0.0);
}

// Imports map files, too, and break memory up: RSS grows by more than they
// have.
bool StillLoads(double imports, uint64_t growth_bytes) {
  constexpr double kLeastShare = 0.1;
  return imports > kLeastShare * static_cast<double>(growth_bytes);
}

// A worker waits before its first task and after its last one: a line's time
// begins when it first grows, and ends with its last growth, as far as these
// cut off no more than a quarter, and a tenth: a cache that is full waits, too.
uint64_t LineGrowth(const std::vector<double>& bytes, size_t from,
                    const EvenSteps& steps) {
  if (from + 1 >= bytes.size()) return 0;
  const size_t quarter = (steps.count - from) / 4;
  const size_t tenth = (steps.count - from) / 10;
  size_t first = from, last = steps.count;
  while (first < from + quarter && first + 1 < bytes.size() &&
         bytes[first + 1] <= bytes[from]) {
    ++first;
  }
  while (last > steps.count - tenth && last >= 2 && last <= bytes.size() &&
         bytes[last - 1] <= bytes[last - 2]) {
    --last;
  }
  return SteadyGrowth(StepsOf(bytes, steps), first * steps.step_us,
                      last * steps.step_us);
}

ProcessGrowth GrowthFrom(size_t from, const PlaceCurves& curves,
                         const EvenSteps& steps,
                         const std::vector<MemoryStep>& rss) {
  const uint64_t from_us = from * steps.step_us;
  const uint64_t end_us = steps.count * steps.step_us;
  ProcessGrowth growth, steady;
  growth.bytes = SteadyGrowth(rss, from_us, end_us);
  growth.span_us = SteadySpanUs(from_us, end_us);
  double most = 0, of_steady = 0;
  for (const auto& [place, bytes] : curves.bytes) {
    const double gain = Gain(bytes, from, steps.count);
    if (place == NamedPlace(kImports)) {
      if (StillLoads(gain, growth.bytes)) growth.bytes = 0;
      continue;
    }
    const uint64_t line_bytes = LineGrowth(bytes, from, steps);
    if (line_bytes > steady.bytes) {
      steady = {line_bytes, LabelOf(place), line_bytes, growth.span_us};
      of_steady = gain;
    }
    if (gain <= most) continue;
    most = gain;
    growth.line = LabelOf(place);
  }
  growth.line_bytes = Bytes(most);
  if (growth.bytes < steady.bytes) return steady;
  // What a line took at once is no part of it.
  if (steady.bytes > 0) {
    growth.line = steady.line;
    growth.line_bytes = Bytes(of_steady);
  }
  return growth;
}

}  // namespace

ProcessGrowth FindGrowth(const PlaceCurves& curves, const EvenSteps& steps,
                         const std::vector<MemoryStep>& rss) {
  ProcessGrowth growth;
  for (const double share : kLoadedShares) {
    const size_t from = LoadedAt(curves, share);
    if (steps.count - from < steps.count / kLeastTimeParts) break;
    growth = GrowthFrom(from, curves, steps, rss);
    if (growth.bytes != 0) break;
  }
  return growth;
}

}  // namespace pymemrun
