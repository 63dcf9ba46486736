#include "format/heap_codec.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "format/heap_guesses.h"
#include "format/heap_op.h"
#include "format/sparse_column.h"
#include "format/status_util.h"

namespace pymemrun {
namespace {

constexpr size_t kEventsPerCall = 4096;

// States an entry in a sparse column.
class AtWriter {
 public:
  void Add(size_t entry, Column32* at) {
    at->Add(static_cast<uint32_t>(entry - last_));
    last_ = entry;
  }

 private:
  size_t last_ = 0;
};

}  // namespace

struct HeapEncoder::State {
  HeapGuesses guesses;
  HeapBatch batch;
  std::string op;
  uint64_t time_us = 0;
  uint32_t thread = 0;
  uint32_t code = 0;
  AtWriter time_at, thread_at, code_at;

  void AddState(const HeapEvent& event);
  uint8_t AddAllocation(const HeapEvent& event);
  uint8_t AddFree(uint64_t address);
  uint8_t StateFreed(uint64_t address);
  // Returns the bit that tells the unit.
  uint8_t StateStep(uint64_t step) {
    const auto bytes = static_cast<int64_t>(step);
    const bool units = (bytes & 15) == 0;
    batch.mutable_address_step()->Add(units ? bytes / 16 : bytes);
    return units ? 0 : kHeapOpBytes;
  }
};

// What is stated where it changes.
void HeapEncoder::State::AddState(const HeapEvent& event) {
  const size_t entry = op.size();
  if (entry == 0) {
    time_us = event.time_us;
    batch.set_first_us(time_us);
  } else if (event.time_us > time_us) {
    time_at.Add(entry, batch.mutable_time_at());
    batch.add_time_step(event.time_us - time_us);
    time_us = event.time_us;
  }
  if (event.thread != thread || entry == 0) {
    thread_at.Add(entry, batch.mutable_thread_at());
    batch.add_thread(event.thread);
    thread = event.thread;
  }
  if (event.code != code && !event.is_free) {
    code_at.Add(entry, batch.mutable_code_at());
    batch.add_code(event.code);
    code = event.code;
  }
}

uint8_t HeapEncoder::State::AddAllocation(const HeapEvent& event) {
  const auto allocator = static_cast<uint32_t>(event.allocator);
  auto bits = static_cast<uint8_t>(allocator << kHeapOpAllocatorShift);
  uint32_t& stack = guesses.contexts.Stack();
  if (stack != event.stack) {
    bits |= kHeapOpStack;
    batch.mutable_stack()->Add(event.stack);
    stack = event.stack;
  }
  uint64_t& size = guesses.contexts.Size(event.stack);
  if (size != event.size) {
    bits |= kHeapOpSize;
    batch.mutable_size()->Add(event.size);
    size = event.size;
  }
  guesses.contexts.Note(event.stack, event.size);
  const uint32_t size_class = HeapGuesses::ClassOf(allocator, event.size);
  if (guesses.Address(size_class, event.size) != event.address) {
    bits |= kHeapOpAddress;
    bits |= StateStep(event.address - guesses.last_of[size_class]);
  }
  guesses.NoteAllocated(event.address, size_class, event.size);
  return bits;
}

// As the distance from the nearest lane.
uint8_t HeapEncoder::State::StateFreed(uint64_t address) {
  size_t nearest = 0;
  uint64_t least = ~uint64_t{0};
  for (size_t lane = 0; lane < HeapFreeOrder::kLanes; ++lane) {
    const uint64_t step = address - guesses.frees.Lane(lane);
    const uint64_t distance = std::min(step, ~step);
    if (distance < least) {
      least = distance;
      nearest = lane;
    }
  }
  const uint8_t unit = StateStep(address - guesses.frees.Lane(nearest));
  return static_cast<uint8_t>(unit | nearest << kHeapOpLaneShift);
}

uint8_t HeapEncoder::State::AddFree(uint64_t address) {
  uint8_t bits = kHeapOpFree;
  auto how = HeapFreed::kInOrder;
  if (guesses.frees.InOrder() != address) {
    how = guesses.frees.Newest() == address ? HeapFreed::kNewest
                                            : HeapFreed::kStated;
  }
  bits |= static_cast<uint8_t>(how) << kHeapOpFreedShift;
  if (how == HeapFreed::kStated) bits |= StateFreed(address);
  guesses.NoteFreed(address);
  return bits;
}

HeapEncoder::HeapEncoder() : state_(std::make_unique<State>()) {}
HeapEncoder::~HeapEncoder() = default;

void HeapEncoder::Add(const HeapEvent& event) {
  State& state = *state_;
  state.AddState(event);
  state.op.push_back(static_cast<char>(event.is_free
                                           ? state.AddFree(event.address)
                                           : state.AddAllocation(event)));
}

size_t HeapEncoder::entries() const { return state_->op.size(); }

size_t HeapEncoder::max_stated_bytes() const {
  const HeapBatch& b = state_->batch;
  // Address, size and time step are of 64 bits, the others of 32.
  return 10 * static_cast<size_t>(b.address_step_size() + b.size_size() +
                                  b.time_step_size()) +
         5 * static_cast<size_t>(b.stack_size() + b.time_at_size() +
                                 2 * b.thread_size() + 2 * b.code_size());
}

void HeapEncoder::Take(HeapBatch* batch) {
  State& state = *state_;
  state.batch.set_op(state.op);
  batch->Swap(&state.batch);
  state.batch.Clear();
  state.op.clear();
  state.guesses.Reset();
  state.thread = state.code = 0;
  state.time_at = state.thread_at = state.code_at = AtWriter();
}

namespace {

// How many entries of the columns that are not sparse the ops take.
struct Stated {
  uint64_t addresses = 0, stacks = 0, sizes = 0;
};

absl::Status CountStated(const std::string& op, Stated* stated) {
  std::array<uint64_t, 256> counts = {};
  for (const char c : op) ++counts[static_cast<uint8_t>(c)];
  for (unsigned value = 0; value < counts.size(); ++value) {
    const uint64_t count = counts[value];
    if (count == 0) continue;
    if ((value & kHeapOpFree) != 0) {
      const unsigned guess = value >> kHeapOpFreedShift & kHeapOpFreedMask;
      const auto last = static_cast<unsigned>(HeapFreed::kStated);
      if (guess > last) {
        return WrongColumn("heap.op", "a guess of 0 to 2", guess);
      }
      if (guess == last) stated->addresses += count;
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

absl::Status CheckStated(absl::string_view field, uint64_t expected,
                         int found) {
  if (expected == static_cast<uint64_t>(found)) return absl::OkStatus();
  return WrongColumn(field, absl::StrCat(expected, " entries"),
                     static_cast<uint64_t>(found));
}

// Reads a batch that CheckHeapBatch() found good.
class BatchReader {
 public:
  BatchReader(const HeapBatch& batch, HeapGuesses* guesses)
      : batch_(batch),
        guesses_(*guesses),
        step_(batch.address_step().data()),
        stack_(batch.stack().data()),
        size_(batch.size().data()),
        time_(batch.time_at()),
        thread_(batch.thread_at()),
        code_(batch.code_at()) {
    state_.time_us = batch.first_us();
  }

  // Those of entries begin to end - 1.
  void Read(size_t begin, size_t end, HeapEvent* events) {
    const std::string& op = batch_.op();
    for (size_t i = begin; i < end; ++i) {
      TakeState(i);
      HeapEvent& event = events[i - begin];
      const auto bits = static_cast<uint8_t>(op[i]);
      if ((bits & kHeapOpFree) != 0) {
        ReadFree(bits, &event);
      } else {
        ReadAllocation(bits, &event);
      }
    }
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
  uint64_t Step(uint8_t bits) {
    const auto step = static_cast<uint64_t>(*step_++);
    return (bits & kHeapOpBytes) != 0 ? step : step << 4;
  }
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
        event->address =
            guesses_.frees.Lane(bits >> kHeapOpLaneShift) + Step(bits);
        break;
    }
    guesses_.NoteFreed(event->address);
  }

  const HeapBatch& batch_;
  HeapGuesses& guesses_;
  const int64_t* step_;
  const uint32_t* stack_;
  const uint64_t* size_;
  SparseCursor time_, thread_, code_;
  HeapEvent state_;  // what was stated last
};

}  // namespace

struct HeapDecoder::State {
  HeapGuesses guesses;
  std::vector<HeapEvent> events = std::vector<HeapEvent>(kEventsPerCall);
};

HeapDecoder::HeapDecoder() : state_(std::make_unique<State>()) {}
HeapDecoder::~HeapDecoder() = default;

absl::Status CheckHeapBatch(const HeapBatch& b) {
  Stated stated;
  RETURN_IF_ERROR(CountStated(b.op(), &stated));
  RETURN_IF_ERROR(CheckStated("heap.address_step", stated.addresses,
                              b.address_step_size()));
  RETURN_IF_ERROR(CheckStated("heap.stack", stated.stacks, b.stack_size()));
  RETURN_IF_ERROR(CheckStated("heap.size", stated.sizes, b.size_size()));
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
  return AddAll("heap.time_step", b.time_step(), &time);
}

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

void HeapDecoder::Decode(
    const HeapBatch& batch,
    absl::FunctionRef<bool(const HeapEvent*, size_t)> take) {
  state_->guesses.Reset();
  BatchReader reader(batch, &state_->guesses);
  HeapEvent* const events = state_->events.data();
  const size_t entries = batch.op().size();
  for (size_t begin = 0; begin < entries; begin += kEventsPerCall) {
    const size_t end = std::min(begin + kEventsPerCall, entries);
    reader.Read(begin, end, events);
    if (!take(events, end - begin)) break;
  }
}

}  // namespace pymemrun
