// Whether memory was still growing when a run ended, and how fast.
#ifndef PYMEMRUN_READERS_ANSWER_MEMORY_GROWTH_FIT_H_
#define PYMEMRUN_READERS_ANSWER_MEMORY_GROWTH_FIT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace pymemrun {

struct GrowthFit {
  double gained_bytes = 0;  // by the fitted line, over `span_us`
  uint64_t span_us = 0;     // up to the end
  double error_bytes = 0;   // one standard error of gained_bytes
};

// A line fitted by least squares to the second half of values at even steps, or
// to the last quarter. Only what is never released afterwards counts. Nothing:
// it is not known to grow. It grows if it ends above all that was there before,
// and rises in each of four parts of that time. So a sawtooth, a cache that is
// full and a single step do not grow. Missing last values are 0.
//
// `gain_variance` is that of samples, of what came from each value to the last
// one; missing ones are 0. With it the gain is three standard errors at least.
// The four parts may differ as much as samples of steady growth do, and the
// last rise may be as long ago.
std::optional<GrowthFit> FitGrowth(const std::vector<double>& bytes,
                                   const std::vector<double>& gain_variance,
                                   uint64_t step_us, size_t count);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ANSWER_MEMORY_GROWTH_FIT_H_
