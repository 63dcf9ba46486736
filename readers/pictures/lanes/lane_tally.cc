#include "readers/pictures/lanes/lane_tally.h"

namespace pymemrun {

void LaneTally::Add(uint32_t name, double value) {
  for (auto& [known, sum] : parts) {
    if (known == name) {
      sum += value;
      return;
    }
  }
  if (parts.size() < kMostParts) {
    parts.emplace_back(name, value);
  } else {
    parts.back().second += value;
  }
}

std::pair<uint32_t, double> LaneTally::Take() {
  std::pair<uint32_t, double> most = {0, -1};
  double sum = 0;
  for (const auto& part : parts) {
    sum += part.second;
    if (part.second > most.second) most = part;
  }
  parts.clear();
  return {most.first, sum};
}

}  // namespace pymemrun
