// The grain of the kernel's figure. Exact from Linux 6.16 on; from 6.2 to 6.15
// each CPU keeps its pages to itself until it has a batch of them (32, or twice
// the number of CPUs); before that each thread does so for up to 64 faults.
// Where the grain is not one page, RSS is refined by the faults counted since
// the figure last moved.
#ifndef PYMEMRUN_TRACER_GAUGE_STATM_STEP_H_
#define PYMEMRUN_TRACER_GAUGE_STATM_STEP_H_

#include <cstdint>

namespace pymemrun {

// Touches fresh pages one by one until `read` (RSS in pages, 0: unreadable)
// has moved a few times, and gives them back. Returns the smallest change seen,
// in pages: 1 where every page shows; 0 where nothing could be found out.
uint32_t MeasureStatmStep(uint32_t (*read)());

// RSS between two moves of a coarse figure. GIL held.
class RssEstimate {
 public:
  // `step_pages` as measured; pages that faults may have brought without a move
  // are at most (step - 1) for each of `cpus`.
  void Start(uint32_t step_pages, uint32_t cpus);
  // Whether the figure is coarse at all; only then is there anything to refine.
  bool coarse() const { return most_unseen_pages_ > 0; }
  // RSS in pages, given statm's figure and the number of faults so far.
  uint32_t Refine(uint32_t statm_pages, uint64_t faults);

 private:
  uint64_t most_unseen_pages_ = 0;
  uint32_t figure_pages_ = 0;      // statm's, when it last moved...
  uint64_t faults_at_figure_ = 0;  // ...and the faults by then
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_GAUGE_STATM_STEP_H_
