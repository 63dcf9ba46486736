#include "format/heap_encoder.h"

#include <algorithm>
#include <utility>

namespace pymemrun {
namespace {

constexpr size_t kFirstOps = 256;
// Of addresses that a program can have; of others any lane will do.
constexpr uint64_t kMaxDistance = ~uint64_t{0} / HeapFreeOrder::kLanes;

}  // namespace

void HeapEncoder::Begin() {
  entries_ = 0;
  time_at_ = thread_at_ = code_at_ = AtWriter();
  batch_.set_first_us(time_us_);
  thread_at_.Add(0, batch_.mutable_thread_at());
  batch_.add_thread(thread_);
  if (code_ != 0) {
    code_at_.Add(0, batch_.mutable_code_at());
    batch_.add_code(code_);
  }
}

void HeapEncoder::ChangeState(uint64_t time_us, uint32_t thread,
                              uint32_t code) {
  if (entries_ == 0) {
    batch_.Clear();
    time_us_ = std::max(time_us_, time_us);
    thread_ = thread;
    code_ = code;
    return Begin();
  }
  if (time_us > time_us_) {
    const uint64_t step = time_us - time_us_;
    if (time_at_.IsAt(entries_)) {
      *batch_.mutable_time_step()->rbegin() += step;
    } else {
      time_at_.Add(entries_, batch_.mutable_time_at());
      batch_.add_time_step(step);
    }
    time_us_ = time_us;
  }
  if (thread != thread_) {
    Change(thread, &thread_at_, batch_.mutable_thread_at(),
           batch_.mutable_thread());
    thread_ = thread;
  }
  if (code != code_) {
    Change(code, &code_at_, batch_.mutable_code_at(), batch_.mutable_code());
    code_ = code;
  }
}

// It may change again before there is an entry.
void HeapEncoder::Change(uint32_t value, AtWriter* writer, Column32* at,
                         Column32* values) {
  if (writer->IsAt(entries_)) {
    *values->rbegin() = value;
    return;
  }
  writer->Add(entries_, at);
  values->Add(value);
}

void HeapEncoder::GrowOps() {
  ops_.resize(std::max(kFirstOps, 2 * ops_.size()));
}

uint32_t HeapEncoder::StateStep(uint64_t step) {
  const auto bytes = static_cast<int64_t>(step);
  const bool units = (bytes & 15) == 0;
  batch_.mutable_address_step()->Add(units ? bytes / 16 : bytes);
  return units ? 0 : kHeapOpBytes;
}

// As the distance from the nearest lane.
uint32_t HeapEncoder::StateFreed(uint64_t address) {
  // Distance and lane as one number: which lane it is nobody can foretell, so
  // a branch for each would cost more than all else here.
  uint64_t least = ~uint64_t{0};
  for (size_t lane = 0; lane < HeapFreeOrder::kLanes; ++lane) {
    const uint64_t step = address - guesses_.frees.Lane(lane);
    const uint64_t distance = std::min(step, ~step) & kMaxDistance;
    least = std::min(least, distance * HeapFreeOrder::kLanes + lane);
  }
  const size_t nearest = least % HeapFreeOrder::kLanes;
  const uint32_t unit = StateStep(address - guesses_.frees.Lane(nearest));
  return unit | static_cast<uint32_t>(nearest << kHeapOpLaneShift);
}

// Such are rare, and not blocks: they say nothing of what comes.
void HeapEncoder::AddRange(const HeapEvent& event) {
  const auto how = event.free_of == HeapFreeOf::kMovedRange
                       ? HeapFreed::kMovedRange
                       : HeapFreed::kRange;
  batch_.add_size(event.size);
  PutOp(kHeapOpFree | static_cast<uint32_t>(how) << kHeapOpFreedShift |
        StateFreed(event.address));
}

size_t HeapEncoder::max_stated_bytes() const {
  // Address, size and time step are of 64 bits, the others of 32.
  return 10 *
             static_cast<size_t>(batch_.address_step_size() +
                                 batch_.size_size() + batch_.time_step_size()) +
         5 * static_cast<size_t>(batch_.stack_size() + batch_.time_at_size() +
                                 2 * batch_.thread_size() +
                                 2 * batch_.code_size());
}

// What was stated behind the last entry is the next batch's.
void HeapEncoder::DropWhatNoEntryHas() {
  if (time_at_.IsAt(entries_)) {
    batch_.mutable_time_at()->RemoveLast();
    batch_.mutable_time_step()->RemoveLast();
  }
  if (thread_at_.IsAt(entries_)) {
    batch_.mutable_thread_at()->RemoveLast();
    batch_.mutable_thread()->RemoveLast();
  }
  if (code_at_.IsAt(entries_)) {
    batch_.mutable_code_at()->RemoveLast();
    batch_.mutable_code()->RemoveLast();
  }
}

void HeapEncoder::Take(HeapBatch* batch) {
  batch->Clear();
  if (entries_ > 0) {
    DropWhatNoEntryHas();
    batch_.set_op(ops_.data(), entries_);
    batch->Swap(&batch_);
    batch_.Clear();
    guesses_.Reset();
  } else {
    batch_.Clear();
  }
  Begin();
}

}  // namespace pymemrun
