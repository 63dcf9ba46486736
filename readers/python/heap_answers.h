// What a Run returns about the heap.
#ifndef PYMEMRUN_READERS_PYTHON_HEAP_ANSWERS_H_
#define PYMEMRUN_READERS_PYTHON_HEAP_ANSWERS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pybind11/pybind11.h"
#include "readers/python/python_values.h"
#include "readers/python/run_file.h"
#include "readers/replay/heap/heap_replay.h"
#include "readers/replay/heap/heap_table.h"
#include "readers/replay/heap/heap_totals.h"
#include "readers/replay/moments/run_moments.h"

namespace pymemrun {

// All of this requires the GIL, and releases it while the file is read. Raises
// ValueError for invalid arguments, and for runs without heap events.

// Reads this file, which must outlive the result.
ReadRun ReadingOf(const RunFile& file);

// Returns a History record. `interval_s` None: 60 to 120 moments. `to_s` None:
// to the end.
pybind11::object HeapHistoryOf(const RunFile& file,
                               const pybind11::object& interval_s, int top,
                               const std::string& by,
                               const pybind11::object& from_s,
                               const pybind11::object& to_s);

// The live blocks at a moment: a sequence of PlaceRows, by line. `at`: seconds,
// or a str in the form of --at.
class HeapSnapshot {
 public:
  HeapSnapshot(const RunFile& file, const pybind11::object& at);
  // PlaceRow or NameRow records, most bytes first.
  pybind11::list RowsBy(GroupBy by) const;
  // StackRow records, one for each stack, thread and allocator.
  pybind11::list Stacks() const;

  // Rows by line.
  const pybind11::list& rows() const { return rows_; }
  double time_s() const { return Seconds(replay_->TimeOf(0)); }
  const HeapTotals& totals() const { return totals_; }
  const HeapUnseen& unseen() const { return replay_->unseen(); }

 private:
  std::unique_ptr<HeapMoments> replay_;
  std::vector<HeapSums> sums_;  // by source
  HeapTotals totals_;
  pybind11::list rows_;
};

// The first `limit` rows of a snapshot; None or 0: all.
pybind11::list HeapTop(const RunFile& file, const std::string& by,
                       const pybind11::object& limit,
                       const pybind11::object& at);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PYTHON_HEAP_ANSWERS_H_
