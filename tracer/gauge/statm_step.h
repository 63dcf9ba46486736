// The step in which statm moves. It is exact from Linux 6.16 on. From 6.2
// to 6.15 each CPU keeps pages to itself up to a batch (32, or twice the number
// of CPUs). Before that each thread does so for up to 64 faults. If the step is
// more than one page, RSS is refined by the faults counted since statm last
// moved.
#ifndef PYMEMRUN_TRACER_GAUGE_STATM_STEP_H_
#define PYMEMRUN_TRACER_GAUGE_STATM_STEP_H_

#include <cstdint>

namespace pymemrun {

// Touches fresh pages one by one until `read` (RSS in pages, 0: unreadable) has
// moved a few times, and unmaps them. Returns the smallest change in pages: 1
// if statm is exact, 0 if it could not be measured.
uint32_t MeasureStatmStep(uint32_t (*read)());

// RSS between two steps of a coarse statm. All functions need the GIL.
class RssEstimate {
 public:
  // `step_pages` as measured. Pages that faults brought without a step are at
  // most (step - 1) for each of `cpus`.
  void Start(uint32_t step_pages, uint32_t cpus);
  // Whether statm is coarse at all.
  bool coarse() const { return most_unseen_pages_ > 0; }
  // Returns RSS in pages, from statm and the number of faults so far.
  uint32_t Refine(uint32_t statm_pages, uint64_t faults);

 private:
  uint64_t most_unseen_pages_ = 0;
  uint32_t figure_pages_ = 0;      // statm when it last moved
  uint64_t faults_at_figure_ = 0;  // number of faults then
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_GAUGE_STATM_STEP_H_
