// Samples of several CPUs, put in the order of time.
#ifndef PYMEMRUN_COLLECTOR_PERF_HELD_SAMPLES_H_
#define PYMEMRUN_COLLECTOR_PERF_HELD_SAMPLES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pymemrun {

// `Sample` has a `time_ns`. Not thread safe.
template <class Sample>
class HeldSamples {
 public:
  // Has `fill` append samples in the order of time to a vector, and puts them
  // among the others.
  template <class Fill>
  void Add(Fill fill) {
    const auto before = static_cast<std::ptrdiff_t>(held_.size());
    fill(&held_);
    std::inplace_merge(held_.begin(), held_.begin() + before, held_.end(),
                       Older);
  }
  // Moves those that are not younger than `until_ns` to the end of `out`, in
  // the order of time. One that is added later than a younger one was given is
  // out of order.
  void Give(uint64_t until_ns, std::vector<Sample>* out) {
    const auto end = std::upper_bound(
        held_.begin(), held_.end(), until_ns,
        [](uint64_t time, const Sample& s) { return time < s.time_ns; });
    out->insert(out->end(), held_.begin(), end);
    held_.erase(held_.begin(), end);
  }

 private:
  static bool Older(const Sample& a, const Sample& b) {
    return a.time_ns < b.time_ns;
  }

  std::vector<Sample> held_;  // in the order of time
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PERF_HELD_SAMPLES_H_
