#include "format/states/state_batch.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "format/limits.h"
#include "format/stream/status_util.h"

namespace pymemrun {
namespace {

// How many entries have columns of their own.
struct Parts {
  uint64_t seen = 0, others = 0;
};

absl::Status CountParts(const StateBatch& batch, Parts* parts) {
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

// Sums of times and counts stay far from overflow in a reader.
absl::Status CheckCounts(absl::string_view field, const Column64& column) {
  for (const uint64_t value : column) {
    if (value > kMaxStateNanos) {
      return WrongColumn(field, absl::StrCat("at most ", kMaxStateNanos),
                         value);
    }
  }
  return absl::OkStatus();
}

}  // namespace

void StateBatchEncoder::Append(const StateEvent& event) {
  const uint64_t time_ns = std::max(event.time_ns, last_ns_);
  if (entries() == 0) {
    batch_.set_first_ns(time_ns);
    last_ns_ = time_ns;
  }
  batch_.add_time_step_ns(time_ns - last_ns_);
  last_ns_ = time_ns;
  batch_.add_thread(event.thread);
  batch_.add_action(event.action);
  if (event.action != STATE_SEEN) return;
  batch_.add_reason(event.reason);
  if (event.reason != SLEEP_OTHER) return;
  batch_.add_other(event.other.data(),
                   std::min(event.other.size(), kMaxSleepNameBytes));
}

void StateBatchEncoder::Take(StateBatch* batch) {
  batch->Clear();
  batch->Swap(&batch_);
}

absl::Status StateBatchDecoder::Check(const StateBatch& b, uint32_t* thread) {
  const auto rows = static_cast<uint64_t>(b.action_size());
  Parts parts;
  RETURN_IF_ERROR(CountParts(b, &parts));
  RETURN_IF_ERROR(
      CheckLength("states.time_step_ns", rows, b.time_step_ns_size()));
  RETURN_IF_ERROR(CheckLength("states.thread", rows, b.thread_size()));
  RETURN_IF_ERROR(CheckLength("states.reason", parts.seen, b.reason_size()));
  RETURN_IF_ERROR(CheckLength("states.other", parts.others, b.other_size()));
  for (const std::string& name : b.other()) {
    if (name.size() > kMaxSleepNameBytes) {
      return WrongColumn("states.other",
                         absl::StrCat("at most ", kMaxSleepNameBytes, " bytes"),
                         name.size());
    }
  }
  uint64_t time = b.first_ns();
  RETURN_IF_ERROR(AddAll("states.time_step_ns", b.time_step_ns(), &time));
  if (time > kMaxStateNanos) {
    return WrongColumn("states.time_step_ns",
                       absl::StrCat("a time of at most ", kMaxStateNanos),
                       time);
  }
  return CheckIds("states.thread", b.thread(), 1, thread);
}

StateEvent StateBatchDecoder::EventAt(int row) {
  StateEvent event;
  event.time_ns = time_ns_ += batch_.time_step_ns(row);
  event.thread = batch_.thread(row);
  event.action = batch_.action(row);
  if (event.action != STATE_SEEN) return event;
  event.reason = batch_.reason(seen_++);
  if (event.reason == SLEEP_OTHER) event.other = batch_.other(other_++);
  return event;
}

size_t StateBatchDecoder::Next(StateEvent* events, size_t size) {
  const auto left = static_cast<size_t>(batch_.action_size() - row_);
  const size_t count = std::min(size, left);
  for (size_t i = 0; i < count; ++i) events[i] = EventAt(row_++);
  return count;
}

absl::Status SchedBatchDecoder::Check(const SchedBatch& b, uint32_t* thread) {
  const auto rows = static_cast<uint64_t>(b.thread_size());
  const uint64_t counted = b.voluntary_size() == 0 ? 0 : rows;
  RETURN_IF_ERROR(CheckLength("sched.run_ns", rows, b.run_ns_size()));
  RETURN_IF_ERROR(CheckLength("sched.runnable_ns", rows, b.runnable_ns_size()));
  RETURN_IF_ERROR(CheckLength("sched.voluntary", counted, b.voluntary_size()));
  RETURN_IF_ERROR(CheckLength("sched.preempted", counted, b.preempted_size()));
  RETURN_IF_ERROR(CheckCounts("sched.run_ns", b.run_ns()));
  RETURN_IF_ERROR(CheckCounts("sched.runnable_ns", b.runnable_ns()));
  RETURN_IF_ERROR(CheckCounts("sched.voluntary", b.voluntary()));
  RETURN_IF_ERROR(CheckCounts("sched.preempted", b.preempted()));
  if (b.time_us() > kMaxStateNanos / 1000) {
    return WrongColumn("sched.time_us",
                       absl::StrCat("at most ", kMaxStateNanos / 1000),
                       b.time_us());
  }
  return CheckIds("sched.thread", b.thread(), 1, thread);
}

size_t SchedBatchDecoder::Next(SchedSample* samples, size_t size) {
  const auto left = static_cast<size_t>(batch_.thread_size() - row_);
  const size_t count = std::min(size, left);
  const bool counted = batch_.voluntary_size() != 0;
  for (size_t i = 0; i < count; ++i, ++row_) {
    samples[i] = {batch_.time_us(), batch_.thread(row_), batch_.run_ns(row_),
                  batch_.runnable_ns(row_),
                  counted ? batch_.voluntary(row_) : 0,
                  counted ? batch_.preempted(row_) : 0};
  }
  return count;
}

}  // namespace pymemrun
