#include "format/timed/state_batch.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "format/batches/sparse_column.h"
#include "format/limits.h"
#include "format/stream/status_util.h"

namespace pymemrun {
namespace {

// How many entries have columns of their own: STATE_SEEN has a reason, and the
// reason SLEEP_OTHER a name.
struct StateParts {
  uint64_t seen = 0, others = 0;
};

absl::Status CountParts(const StateBatch& batch, StateParts* parts) {
  for (const int action : batch.action()) {
    if (!StateAction_IsValid(action)) {
      return WrongColumn("states.action",
                         absl::StrCat("0 to ", StateAction_MAX), action);
    }
    parts->seen += action == STATE_SEEN;
  }
  for (const int reason : batch.reason()) {
    if (!SleepReason_IsValid(reason)) {
      return WrongColumn("states.reason",
                         absl::StrCat("0 to ", SleepReason_MAX), reason);
    }
    parts->others += reason == SLEEP_OTHER;
  }
  return absl::OkStatus();
}

}  // namespace

// Longer names are cut, as readers refuse them.
void StateBatchEncoder::Append(const StateEvent& event) {
  entries_.Append(event, &batch_);
  if (event.action != STATE_SEEN) return;
  batch_.add_reason(event.reason);
  if (event.reason != SLEEP_OTHER) return;
  batch_.add_other(event.other.data(),
                   std::min(event.other.size(), kMaxSleepNameBytes));
}

void StateBatchEncoder::Take(StateBatch* batch) { MoveBatch(&batch_, batch); }

absl::Status StateBatchDecoder::Check(const StateBatch& b, uint32_t* thread) {
  StateParts parts;
  RETURN_IF_ERROR(CountParts(b, &parts));
  RETURN_IF_ERROR(CheckLength("states.reason", parts.seen, b.reason_size()));
  RETURN_IF_ERROR(CheckLength("states.other", parts.others, b.other_size()));
  for (const std::string& name : b.other()) {
    if (name.size() > kMaxSleepNameBytes) {
      return WrongColumn("states.other",
                         absl::StrCat("at most ", kMaxSleepNameBytes, " bytes"),
                         name.size());
    }
  }
  return CheckTimed("states", b, kMaxStateNanos, thread);
}

void StateBatchDecoder::Complete(StateEvent* event) {
  if (event->action != STATE_SEEN) return;
  event->reason = batch_.reason(seen_++);
  if (event->reason == SLEEP_OTHER) event->other = batch_.other(other_++);
}

size_t StateBatchDecoder::Next(StateEvent* events, size_t size) {
  return cursor_.Next(events, size,
                      [this](int, StateEvent* event) { Complete(event); });
}

// A sample of each thread at one time. The counts of switches may be absent:
// then both columns are empty.
absl::Status SchedBatchDecoder::Check(const SchedBatch& b, uint32_t* thread) {
  const auto rows = static_cast<uint64_t>(b.thread_size());
  const uint64_t counted = b.voluntary_size() == 0 ? 0 : rows;
  RETURN_IF_ERROR(CheckLength("sched.run_ns", rows, b.run_ns_size()));
  RETURN_IF_ERROR(CheckLength("sched.runnable_ns", rows, b.runnable_ns_size()));
  RETURN_IF_ERROR(CheckLength("sched.voluntary", counted, b.voluntary_size()));
  RETURN_IF_ERROR(CheckLength("sched.preempted", counted, b.preempted_size()));
  // Sums of times and counts stay far from overflow in a reader.
  RETURN_IF_ERROR(CheckMost("sched.run_ns", b.run_ns(), kMaxStateNanos));
  RETURN_IF_ERROR(
      CheckMost("sched.runnable_ns", b.runnable_ns(), kMaxStateNanos));
  RETURN_IF_ERROR(CheckMost("sched.voluntary", b.voluntary(), kMaxStateNanos));
  RETURN_IF_ERROR(CheckMost("sched.preempted", b.preempted(), kMaxStateNanos));
  if (b.time_us() > kMaxStateNanos / 1000) {
    return WrongColumn("sched.time_us",
                       absl::StrCat("at most ", kMaxStateNanos / 1000),
                       b.time_us());
  }
  return CheckIds("sched.thread", b.thread(), 1, thread);
}

// Absent counts are given as 0.
size_t SchedBatchDecoder::Next(SchedSample* samples, size_t size) {
  const auto left = static_cast<size_t>(batch_.thread_size() - row_);
  const size_t count = std::min(size, left);
  const bool counted = batch_.voluntary_size() != 0;
  for (size_t i = 0; i < count; ++i, ++row_) {
    samples[i] = {batch_.time_us(),
                  batch_.thread(row_),
                  batch_.run_ns(row_),
                  batch_.runnable_ns(row_),
                  counted ? batch_.voluntary(row_) : 0,
                  counted ? batch_.preempted(row_) : 0};
  }
  return count;
}

}  // namespace pymemrun
