// How much memory each place had, over time.
#ifndef PYMEMRUN_READERS_ANSWER_MEMORY_PLACE_CURVES_H_
#define PYMEMRUN_READERS_ANSWER_MEMORY_PLACE_CURVES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "readers/places/place.h"
#include "readers/replay/heap/heap_history.h"
#include "readers/replay/resident/timeline.h"
#include "readers/run/replay_visitor.h"
#include "readers/run/reread_file.h"

namespace pymemrun {

struct Answer;

// So many moments, evenly from 0 on.
struct EvenSteps {
  uint64_t step_us;  // not 0
  size_t count;
};

// Bytes at these moments: live blocks, or resident pages where no allocation
// was recorded. A place of a line has no function. Shorter where the last ones
// are 0.
struct PlaceCurves {
  absl::flat_hash_map<Place, std::vector<double>> bytes;
  // Of what came from each moment to the last one; none: exact.
  absl::flat_hash_map<Place, std::vector<double>> gain_variance;
  std::shared_ptr<ReplayVisitor> names;  // what the places' names belong to
};

// The reading of the heap that such curves are taken from, and taking them.
std::unique_ptr<HeapHistoryReplay> HeapCurves(
    GroupBy by, const EvenSteps& steps,
    std::shared_ptr<const LibraryWaits> waits);
void TakeCurves(std::shared_ptr<HeapHistoryReplay> history,
                const EvenSteps& steps, PlaceCurves* curves);

// Reads pages up to a moment, and what pages of files lines have at some
// moments before it.
class FileTimeline final : public TimelineReplay {
 public:
  FileTimeline(const EvenSteps& steps, uint64_t until_us, Hindsight hindsight);
  // Names live as long as this. REQUIRES: Finish() was called.
  void AddTo(PlaceCurves* curves) const;

 private:
  void TakeValues(uint64_t time_us) override;

  const size_t count_;
};

// Reads the answer's file again where `curves`, of live blocks, do not show
// what its own lines hold: pages in pools of libraries and other mappings, or
// less than their blocks, which they did not touch. The curves of these lines
// are then of what they hold, except files. False: it could not be read, which
// has been said.
bool ReadHeldCurves(RereadFile* file, const Answer& answer,
                    const EvenSteps& steps, PlaceCurves* curves);

// Reads the answer's file again. False: it could not be, which has been said.
bool ReadPlaceCurves(RereadFile* file, const Answer& answer, GroupBy by,
                     const EvenSteps& steps, PlaceCurves* curves);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ANSWER_MEMORY_PLACE_CURVES_H_
