// How far sums over the pages of each thread may be wrong.
#ifndef PYMEMRUN_READERS_REPLAY_THREADS_THREAD_ERRORS_H_
#define PYMEMRUN_READERS_REPLAY_THREADS_THREAD_ERRORS_H_

#include <vector>

#include "readers/replay/resident/resident_model.h"

namespace pymemrun {

// Variances of what each thread touched first of the pages that are there, in
// bytes, by ThreadDef.id. Those beyond the end, or all, are 0: no pages of
// theirs were sampled. A page whose stack was inferred is its thread's in any
// case.
std::vector<double> VariancesByThread(const ResidentModel& model);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_THREADS_THREAD_ERRORS_H_
