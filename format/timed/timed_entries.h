// What batches of timed entries have in common: each entry has a time in
// nanoseconds, a thread and an action. Used by the codecs of the GIL's events,
// of thread states and of tasks.
#ifndef PYMEMRUN_FORMAT_TIMED_TIMED_ENTRIES_H_
#define PYMEMRUN_FORMAT_TIMED_TIMED_ENTRIES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "format/batches/sparse_column.h"
#include "format/stream/status_util.h"

namespace pymemrun {

// Fails with kDataLoss if a value exceeds `most`.
absl::Status CheckMost(absl::string_view field, const Column64& column,
                       uint64_t most);
// The same of the times that begin at `first_ns` and go on by `steps`.
absl::Status CheckTimes(absl::string_view field, uint64_t first_ns,
                        const Column64& steps, uint64_t most_ns);

// Writes these columns. Not thread safe.
class TimedEntries {
 public:
  // An event that is dated before the last one gets the time of that.
  template <typename Event, typename Batch>
  void Append(const Event& event, Batch* batch) {
    const uint64_t time_ns = std::max(event.time_ns, last_ns_);
    if (batch->time_step_ns_size() == 0) {
      batch->set_first_ns(time_ns);
      last_ns_ = time_ns;
    }
    batch->add_time_step_ns(time_ns - last_ns_);
    last_ns_ = time_ns;
    batch->add_thread(event.thread);
    batch->add_action(event.action);
  }

 private:
  uint64_t last_ns_ = 0;
};

// Moves the entries of `from` to `to`.
template <typename Batch>
void MoveBatch(Batch* from, Batch* to) {
  to->Clear();
  to->Swap(from);
}

// Checks lengths of columns, times and threads, and not the kinds of actions.
// *thread becomes at least the highest thread. `name` is the batch's.
template <typename Batch>
absl::Status CheckTimed(absl::string_view name, const Batch& batch,
                        uint64_t most_ns, uint32_t* thread) {
  const auto rows = static_cast<uint64_t>(batch.action_size());
  const std::string steps = absl::StrCat(name, ".time_step_ns");
  const std::string threads = absl::StrCat(name, ".thread");
  RETURN_IF_ERROR(CheckLength(steps, rows, batch.time_step_ns_size()));
  RETURN_IF_ERROR(CheckLength(threads, rows, batch.thread_size()));
  RETURN_IF_ERROR(
      CheckTimes(steps, batch.first_ns(), batch.time_step_ns(), most_ns));
  return CheckIds(threads, batch.thread(), 1, thread);
}

// Reads them row by row. REQUIRES: CheckTimed() found the batch good. The batch
// must outlive it.
template <typename Batch>
class TimedCursor {
 public:
  explicit TimedCursor(const Batch& batch)
      : batch_(batch), time_ns_(batch.first_ns()) {}

  // Fills up to `size` events, the rest of each by complete(row, &event).
  // Returns how many, 0 at the end.
  template <typename Event, typename Complete>
  size_t Next(Event* events, size_t size, const Complete& complete) {
    const auto left = static_cast<size_t>(batch_.action_size() - row_);
    const size_t count = std::min(size, left);
    for (size_t i = 0; i < count; ++i, ++row_) {
      Event event;
      event.time_ns = time_ns_ += batch_.time_step_ns(row_);
      event.thread = batch_.thread(row_);
      event.action = batch_.action(row_);
      complete(row_, &event);
      events[i] = event;
    }
    return count;
  }

 private:
  const Batch& batch_;
  uint64_t time_ns_;
  int row_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_TIMED_TIMED_ENTRIES_H_
