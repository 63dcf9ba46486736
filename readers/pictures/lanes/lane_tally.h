// What one column of a lane is made of, while it is being added up.
#ifndef PYMEMRUN_READERS_PICTURES_LANES_LANE_TALLY_H_
#define PYMEMRUN_READERS_PICTURES_LANES_LANE_TALLY_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace pymemrun {

struct LaneTally {
  static constexpr uint32_t kNone = UINT32_MAX;
  // Names that are told apart. The others count for the last of these.
  static constexpr size_t kMostParts = 16;

  uint32_t column = kNone;
  std::vector<std::pair<uint32_t, double>> parts;  // name and what it has

  void Add(uint32_t name, double value);
  // The name that has most, and the sum of all. There are no parts then.
  std::pair<uint32_t, double> Take();
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PICTURES_LANES_LANE_TALLY_H_
