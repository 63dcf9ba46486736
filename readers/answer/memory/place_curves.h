// The memory of each place over time.
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

// `count` moments, evenly spaced from 0 on.
struct EvenSteps {
  uint64_t step_us;  // not 0
  size_t count;
};

// Bytes at these moments: live blocks, or resident pages if no allocations were
// recorded. The place of a line has no function. Zeros at the end are left out.
struct PlaceCurves {
  absl::flat_hash_map<Place, std::vector<double>> bytes;
  // For the gain from each moment to the last one; empty: exact.
  absl::flat_hash_map<Place, std::vector<double>> gain_variance;
  std::shared_ptr<ReplayVisitor> names;  // keeps the places' names
};

// The replay of the heap for such curves, and the curves from it.
std::unique_ptr<HeapHistoryReplay> HeapCurves(
    GroupBy by, const EvenSteps& steps,
    std::shared_ptr<const LibraryWaits> waits);
void TakeCurves(std::shared_ptr<HeapHistoryReplay> history,
                const EvenSteps& steps, PlaceCurves* curves);

// Reads pages up to a moment. Collects the file pages of lines at earlier
// moments.
class FileTimeline final : public TimelineReplay {
 public:
  FileTimeline(const EvenSteps& steps, uint64_t until_us, Hindsight hindsight);
  // Names live as long as this object. REQUIRES: Finish() was called.
  void AddTo(PlaceCurves* curves) const;

 private:
  void TakeValues(uint64_t time_us) override;

  const size_t count_;
};

// Reads the answer's file again for the own lines that hold more or less than
// their live blocks. These have pages in libraries' pools and other mappings,
// or have not touched all of their blocks. Their `curves` become what they
// hold, except files. Returns false if the file could not be read, and has
// printed why.
bool ReadHeldCurves(RereadFile* file, const Answer& answer,
                    const EvenSteps& steps, PlaceCurves* curves);

// Reads the answer's file again. Returns false if it could not be read, and has
// printed why.
bool ReadPlaceCurves(RereadFile* file, const Answer& answer, GroupBy by,
                     const EvenSteps& steps, PlaceCurves* curves);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ANSWER_MEMORY_PLACE_CURVES_H_
