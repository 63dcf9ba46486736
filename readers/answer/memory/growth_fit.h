// Whether memory was still growing when a run ended, and how fast.
#ifndef PYMEMRUN_READERS_ANSWER_MEMORY_GROWTH_FIT_H_
#define PYMEMRUN_READERS_ANSWER_MEMORY_GROWTH_FIT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace pymemrun {

// A fitted line, at the end of a run.
struct GrowthFit {
  double gained_bytes = 0;  // along the fitted line, during `span_us`
  uint64_t span_us = 0;     // ends with the run
  double error_bytes = 0;   // one standard error of gained_bytes
};

// Fits a line by least squares to the second half of evenly spaced values, or
// to the last quarter. Counts only what is never released afterwards. Returns
// nothing if it does not grow for certain. It grows if it ends above all
// earlier values, and rises in each of four parts of that time. So a sawtooth,
// a full cache and a single step do not count as growth. Missing values at the
// end are 0.
//
// `gain_variance`: of samples, for what came from each value to the last one;
// missing values are 0. If given, the gain must exceed three standard errors.
// The four parts may then differ as much as samples of steady growth do, and
// the last rise may be as long ago as these allow.
std::optional<GrowthFit> FitGrowth(const std::vector<double>& bytes,
                                   const std::vector<double>& gain_variance,
                                   uint64_t step_us, size_t count);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ANSWER_MEMORY_GROWTH_FIT_H_
