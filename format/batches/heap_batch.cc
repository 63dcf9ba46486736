#include "format/batches/heap_batch.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "format/batches/heap_guesses.h"
#include "format/batches/sparse_column.h"
#include "format/limits.h"
#include "format/stream/status_util.h"

namespace pymemrun {
namespace {

// Room of `ops_` at first; it doubles then.
constexpr size_t kFirstOps = 256;
// Largest distance of addresses in a program; beyond it any lane will do.
constexpr uint64_t kMaxDistance = ~uint64_t{0} / HeapFreeOrder::kLanes;

// Entries of the dense columns that `op` calls for.
struct Stated {
  uint64_t addresses = 0, stacks = 0, sizes = 0;
  uint64_t frees = 0;  // of all entries
};

// Each byte of `op` says which values its entry has in the dense columns. A
// histogram of the 256 bytes costs one increment per entry; the rules are then
// applied once per value of a byte.
absl::Status CountStated(const std::string& op, Stated* stated) {
  std::array<uint64_t, 256> counts = {};
  for (const char c : op) ++counts[static_cast<uint8_t>(c)];
  for (unsigned value = 0; value < counts.size(); ++value) {
    const uint64_t count = counts[value];
    if (count == 0) continue;
    if ((value & kHeapOpFree) != 0) {
      const unsigned guess = value >> kHeapOpFreedShift & kHeapOpFreedMask;
      const auto last = static_cast<unsigned>(HeapFreed::kMovedRange);
      if (guess > last) {
        return WrongColumn("heap.op", absl::StrCat("a guess of 0 to ", last),
                           guess);
      }
      const auto how = static_cast<HeapFreed>(guess);
      stated->frees += count;
      if (how >= HeapFreed::kStated) stated->addresses += count;
      if (how >= HeapFreed::kRange) stated->sizes += count;
      continue;
    }
    if (!HeapAllocator_IsValid(
            static_cast<int>(value >> kHeapOpAllocatorShift))) {
      return WrongColumn(
          "heap.op", absl::StrCat("an allocator of 0 to ", HeapAllocator_MAX),
          value >> kHeapOpAllocatorShift);
    }
    if ((value & kHeapOpAddress) != 0) stated->addresses += count;
    if ((value & kHeapOpStack) != 0) stated->stacks += count;
    if ((value & kHeapOpSize) != 0) stated->sizes += count;
  }
  return absl::OkStatus();
}

// Checks whether the columns fit each other, so that BatchReader never runs off
// the end of one. A wrong guess is no damage: any 64 bits are an address.
absl::Status CheckColumns(const HeapBatch& b, BatchIds* ids,
                          HeapBatchFacts* facts) {
  if (b.op().size() > kMaxBatchEntries) {
    return WrongColumn("heap.op",
                       absl::StrCat("at most ", kMaxBatchEntries, " entries"),
                       b.op().size());
  }
  Stated stated;
  RETURN_IF_ERROR(CountStated(b.op(), &stated));
  RETURN_IF_ERROR(CheckLength("heap.address_step", stated.addresses,
                              b.address_step_size()));
  RETURN_IF_ERROR(CheckLength("heap.stack", stated.stacks, b.stack_size()));
  RETURN_IF_ERROR(CheckLength("heap.size", stated.sizes, b.size_size()));
  const uint64_t entries = b.op().size();
  RETURN_IF_ERROR(CheckAt("heap.time_at", b.time_at(), 1, entries));
  RETURN_IF_ERROR(
      CheckLength("heap.time_step", b.time_at_size(), b.time_step_size()));
  RETURN_IF_ERROR(CheckAtFromZero("heap.thread_at", b.thread_at(), entries));
  RETURN_IF_ERROR(
      CheckLength("heap.thread", b.thread_at_size(), b.thread_size()));
  RETURN_IF_ERROR(CheckAt("heap.code_at", b.code_at(), 0, entries));
  RETURN_IF_ERROR(CheckLength("heap.code", b.code_at_size(), b.code_size()));
  uint64_t time = b.first_us();
  RETURN_IF_ERROR(AddAll("heap.time_step", b.time_step(), &time));
  *facts = {entries - stated.frees, stated.frees, time};
  RETURN_IF_ERROR(CheckIds("heap.thread", b.thread(), 1, &ids->thread));
  RETURN_IF_ERROR(CheckIds("heap.stack", b.stack(), 0, &ids->stack));
  return CheckIds("heap.code", b.code(), 0, &ids->mapping);
}

// Reads a batch for which HeapBatchDecoder::Check() succeeded. Does the same
// steps on its guesses as the encoder did, in the same order: a difference
// would make all later entries wrong.
class BatchReader {
 public:
  BatchReader(const HeapBatch& batch, HeapGuesses* guesses)
      : entries_(batch.op().size()),
        batch_(batch),
        guesses_(*guesses),
        step_(batch.address_step().data()),
        stack_(batch.stack().data()),
        size_(batch.size().data()),
        time_(batch.time_at()),
        thread_(batch.thread_at()),
        code_(batch.code_at()) {
    state_.time_us = batch.first_us();
  }

  size_t Read(HeapEvent* events, size_t most) {
    const size_t begin = next_;
    next_ = std::min(begin + most, entries_);
    const char* const op = batch_.op().data();
    for (size_t i = begin; i < next_; ++i) {
      TakeState(i);
      HeapEvent& event = events[i - begin];
      const auto bits = static_cast<uint8_t>(op[i]);
      if ((bits & kHeapOpFree) != 0) {
        ReadFree(bits, &event);
      } else {
        ReadAllocation(bits, &event);
      }
    }
    return next_ - begin;
  }

 private:
  void TakeState(size_t i) {
    if (i == time_.next) {
      state_.time_us += batch_.time_step(time_.index);
      time_.Advance();
    }
    if (i == thread_.next) {
      state_.thread = batch_.thread(thread_.index);
      thread_.Advance();
    }
    if (i == code_.next) {
      state_.code = batch_.code(code_.index);
      code_.Advance();
    }
  }
  // In units of 16 bytes, as most blocks are aligned to them. Sums wrap.
  uint64_t Step(uint8_t bits) {
    const auto step = static_cast<uint64_t>(*step_++);
    return (bits & kHeapOpBytes) != 0 ? step : step << 4;
  }
  // Each prediction uses what was decoded before it, so the order is part of
  // the format. What the batch states replaces the guess in the table.
  void ReadAllocation(uint8_t bits, HeapEvent* event) {
    *event = state_;
    uint32_t& stack = guesses_.contexts.Stack();
    if ((bits & kHeapOpStack) != 0) stack = *stack_++;
    event->stack = stack;
    uint64_t& size = guesses_.contexts.Size(event->stack);
    if ((bits & kHeapOpSize) != 0) size = *size_++;
    event->size = size;
    guesses_.contexts.Note(event->stack, event->size);
    const uint32_t allocator = bits >> kHeapOpAllocatorShift;
    event->allocator = static_cast<HeapAllocator>(allocator);
    const uint32_t size_class = HeapGuesses::ClassOf(allocator, event->size);
    event->address = (bits & kHeapOpAddress) != 0
                         ? guesses_.last_of[size_class] + Step(bits)
                         : guesses_.Address(size_class, event->size);
    guesses_.NoteAllocated(event->address, size_class, event->size);
  }
  void ReadFree(uint8_t bits, HeapEvent* event) {
    *event = HeapEvent();
    event->time_us = state_.time_us;
    event->thread = state_.thread;
    event->is_free = true;
    switch (
        static_cast<HeapFreed>(bits >> kHeapOpFreedShift & kHeapOpFreedMask)) {
      case HeapFreed::kInOrder:
        event->address = guesses_.frees.InOrder();
        break;
      case HeapFreed::kNewest:
        event->address = guesses_.frees.Newest();
        break;
      case HeapFreed::kStated:
        event->address = StatedFreed(bits);
        break;
      case HeapFreed::kRange:
        return ReadRange(bits, HeapFreeOf::kRange, event);
      case HeapFreed::kMovedRange:
        return ReadRange(bits, HeapFreeOf::kMovedRange, event);
    }
    guesses_.NoteFreed(event->address);
  }
  uint64_t StatedFreed(uint8_t bits) {
    return guesses_.frees.Lane(bits >> kHeapOpLaneShift) + Step(bits);
  }
  // Changes no guesses, like HeapBatchEncoder::AddRange().
  void ReadRange(uint8_t bits, HeapFreeOf of, HeapEvent* event) {
    event->free_of = of;
    event->address = StatedFreed(bits);
    event->size = *size_++;
  }

  const size_t entries_;
  size_t next_ = 0;
  const HeapBatch& batch_;
  HeapGuesses& guesses_;
  const int64_t* step_;
  const uint32_t* stack_;
  const uint64_t* size_;
  SparseCursor time_, thread_, code_;
  HeapEvent state_;  // values stated last
};

}  // namespace

// A batch is decoded without the one before it. So row 0 states the thread and,
// unless it is 0, the code.
void HeapBatchEncoder::Begin() {
  entries_ = 0;
  time_at_ = thread_at_ = code_at_ = RowSteps();
  batch_.set_first_us(time_us_);
  batch_.add_thread_at(0);
  batch_.add_thread(thread_);
  if (code_ != 0) {
    batch_.add_code_at(0);
    batch_.add_code(code_);
  }
}

// Notes the state of the entries that follow. Before the first entry it
// replaces the state of row 0. A time that falls counts as the last one.
void HeapBatchEncoder::ChangeState(uint64_t time_us, uint32_t thread,
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
    if (IsAtEnd(time_at_)) {
      *batch_.mutable_time_step()->rbegin() += step;
    } else {
      batch_.add_time_at(time_at_.StepTo(entries_));
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

// A state may change again before the next entry; then the last value is
// replaced.
void HeapBatchEncoder::Change(uint32_t value, RowSteps* steps, Column32* at,
                              Column32* values) {
  if (IsAtEnd(*steps)) {
    *values->rbegin() = value;
    return;
  }
  at->Add(steps->StepTo(entries_));
  values->Add(value);
}

void HeapBatchEncoder::GrowOps() {
  ops_.resize(std::max(kFirstOps, 2 * ops_.size()));
}

uint32_t HeapBatchEncoder::StateStep(uint64_t step) {
  const auto bytes = static_cast<int64_t>(step);
  const bool units = (bytes & 15) == 0;
  batch_.mutable_address_step()->Add(units ? bytes / 16 : bytes);
  return units ? 0 : kHeapOpBytes;
}

// States the address as the distance from the nearest lane.
uint32_t HeapBatchEncoder::StateFreed(uint64_t address) {
  // Minimises (distance, lane) as one number. The lane is not predictable, so a
  // branch for each lane would cost more than everything else here.
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

// Ranges are rare and not blocks, so they are not used for predictions.
void HeapBatchEncoder::AddRange(const HeapEvent& event) {
  const auto how = event.free_of == HeapFreeOf::kMovedRange
                       ? HeapFreed::kMovedRange
                       : HeapFreed::kRange;
  batch_.add_size(event.size);
  PutOp(kHeapOpFree | static_cast<uint32_t>(how) << kHeapOpFreedShift |
        StateFreed(event.address));
}

size_t HeapBatchEncoder::max_stated_bytes() const {
  // Varints: at most 10 bytes for 64 bits, 5 for 32 bits.
  return 10 *
             static_cast<size_t>(batch_.address_step_size() +
                                 batch_.size_size() + batch_.time_step_size()) +
         5 * static_cast<size_t>(batch_.stack_size() + batch_.time_at_size() +
                                 2 * batch_.thread_size() +
                                 2 * batch_.code_size());
}

// State after the last entry belongs to the next batch.
void HeapBatchEncoder::DropWhatNoEntryHas() {
  if (IsAtEnd(time_at_)) {
    batch_.mutable_time_at()->RemoveLast();
    batch_.mutable_time_step()->RemoveLast();
  }
  if (IsAtEnd(thread_at_)) {
    batch_.mutable_thread_at()->RemoveLast();
    batch_.mutable_thread()->RemoveLast();
  }
  if (IsAtEnd(code_at_)) {
    batch_.mutable_code_at()->RemoveLast();
    batch_.mutable_code()->RemoveLast();
  }
}

// The predictions start anew with each batch, so that damage to one does not
// spoil the next.
void HeapBatchEncoder::Take(HeapBatch* batch) {
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

class HeapBatchDecoder::State {
 public:
  void Begin(const HeapBatch& batch) {
    guesses_.Reset();
    reader_.emplace(batch, &guesses_);
  }
  size_t Next(HeapEvent* events, size_t most) {
    return reader_->Read(events, most);
  }

 private:
  HeapGuesses guesses_;
  std::optional<BatchReader> reader_;
};

HeapBatchDecoder::HeapBatchDecoder() : state_(std::make_unique<State>()) {}
HeapBatchDecoder::~HeapBatchDecoder() = default;

CheckedHeap HeapBatchDecoder::Check(const HeapBatch& batch) {
  CheckedHeap checked;
  checked.status = CheckColumns(batch, &checked.ids, &checked.facts);
  return checked;
}

// A NaN is refused, too: hence the negated comparison.
absl::Status CheckHeapRates(const HeapRates& rates) {
  uint64_t below = 0;
  for (const HeapClass& one : rates.classes()) {
    if (one.below_bytes() <= below) {
      return WrongColumn("heap_rates.classes",
                         absl::StrCat("sizes above ", below),
                         one.below_bytes());
    }
    below = one.below_bytes();
    if (!(one.probability() >= 0 && one.probability() <= 1)) {
      return absl::DataLossError(
          absl::StrCat("heap_rates.classes: expected a probability, found ",
                       one.probability()));
    }
  }
  return absl::OkStatus();
}

void HeapBatchDecoder::Begin(const HeapBatch& batch) { state_->Begin(batch); }

size_t HeapBatchDecoder::Next(HeapEvent* events, size_t most) {
  return state_->Next(events, most);
}

}  // namespace pymemrun
