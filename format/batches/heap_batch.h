// Codec of HeapBatch: heap events to columns and back. Both directions keep the
// same small tables that predict the next event, so that most events take one
// byte, which is often the same. FORMAT.md has the rules.
#ifndef PYMEMRUN_FORMAT_BATCHES_HEAP_BATCH_H_
#define PYMEMRUN_FORMAT_BATCHES_HEAP_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "format/batches/heap_event.h"
#include "format/batches/heap_guesses.h"
#include "format/batches/sparse_column.h"
#include "format/trace.pb.h"

namespace pymemrun {

// Takes some 300 KiB and the batch. Adding an event is inline: it takes most of
// the collector's time when every event is recorded. Not thread-safe.
class HeapBatchEncoder {
 public:
  HeapBatchEncoder() { Begin(); }
  HeapBatchEncoder(const HeapBatchEncoder&) = delete;
  HeapBatchEncoder& operator=(const HeapBatchEncoder&) = delete;

  void Add(const HeapEvent& event) {
    SetState(event.time_us, event.thread, event.is_free ? code_ : event.code);
    if (event.free_of != HeapFreeOf::kBlock) return AddRange(event);
    if (event.is_free) return AddFree(event.address);
    AddAllocation(event.address, event.size, event.stack,
                  static_cast<uint32_t>(event.allocator));
  }
  // The same in steps. SetState() sets time, thread and code of the next
  // entries. A time below the last one counts as the last one.
  void SetState(uint64_t time_us, uint32_t thread, uint32_t code) {
    if (time_us != time_us_ || thread != thread_ || code != code_) {
      ChangeState(time_us, thread, code);
    }
  }
  ABSL_ATTRIBUTE_ALWAYS_INLINE void AddAllocation(uint64_t address,
                                                  uint64_t size, uint32_t stack,
                                                  uint32_t allocator);
  ABSL_ATTRIBUTE_ALWAYS_INLINE void AddFree(uint64_t address);
  // REQUIRES: a free of a range.
  void AddRange(const HeapEvent& event);
  size_t entries() const { return entries_; }
  // Upper bound of the bytes of the batch without `op`, which has one byte per
  // entry.
  size_t max_stated_bytes() const;
  // Moves the entries to `batch` and starts a new one; the state stays.
  void Take(HeapBatch* batch);

 private:
  void Begin();
  void ChangeState(uint64_t time_us, uint32_t thread, uint32_t code);
  void Change(uint32_t value, RowSteps* steps, Column32* at, Column32* values);
  // Whether the last value of the column is that of the next entry, above 0.
  bool IsAtEnd(const RowSteps& steps) const { return steps.last() == entries_; }
  void DropWhatNoEntryHas();
  void GrowOps();
  void PutOp(uint32_t bits) {
    if (entries_ == ops_.size()) GrowOps();
    ops_[entries_++] = static_cast<char>(bits);
  }
  // These return the bits that tell unit and lane.
  uint32_t StateStep(uint64_t step);
  uint32_t StateFreed(uint64_t address);

  size_t entries_ = 0;
  std::string ops_;  // of the entries, with room behind them
  uint64_t time_us_ = 0;
  uint32_t thread_ = 0;
  uint32_t code_ = 0;
  HeapBatch batch_;
  RowSteps time_at_, thread_at_, code_at_;
  HeapGuesses guesses_;
};

// Result of checking a batch. Ids are not checked for definitions.
struct CheckedHeap {
  absl::Status status;  // kDataLoss, with the name of a column
  BatchIds ids;
  HeapBatchFacts facts;
};

// Not thread-safe.
class HeapBatchDecoder {
 public:
  // Checks whether the columns fit each other.
  static CheckedHeap Check(const HeapBatch& batch);
  HeapBatchDecoder();
  ~HeapBatchDecoder();
  // Goes to the first entry of `batch`, which must outlive the calls of Next().
  // REQUIRES: Check() succeeded.
  void Begin(const HeapBatch& batch);
  // Fills up to `most` events. Returns the number filled, 0 at the end.
  size_t Next(HeapEvent* events, size_t most);

 private:
  class State;
  std::unique_ptr<State> state_;
};

// Checks that probabilities are from 0 to 1 and sizes ascend.
absl::Status CheckHeapRates(const HeapRates& rates);

inline void HeapBatchEncoder::AddAllocation(uint64_t address, uint64_t size,
                                            uint32_t stack,
                                            uint32_t allocator) {
  uint32_t bits = allocator << kHeapOpAllocatorShift;
  uint32_t& stack_guess = guesses_.contexts.Stack();
  uint64_t& size_guess = guesses_.contexts.Size(stack);
  const uint32_t size_class = HeapGuesses::ClassOf(allocator, size);
  if (stack_guess != stack) {
    bits |= kHeapOpStack;
    batch_.mutable_stack()->Add(stack);
    stack_guess = stack;
  }
  if (size_guess != size) {
    bits |= kHeapOpSize;
    batch_.mutable_size()->Add(size);
    size_guess = size;
  }
  guesses_.contexts.Note(stack, size);
  if (guesses_.Address(size_class, size) != address) {
    bits |= kHeapOpAddress | StateStep(address - guesses_.last_of[size_class]);
  }
  guesses_.NoteAllocated(address, size_class, size);
  PutOp(bits);
}
inline void HeapBatchEncoder::AddFree(uint64_t address) {
  auto how = HeapFreed::kInOrder;
  uint32_t stated = 0;
  if (guesses_.frees.InOrder() != address) {
    how = HeapFreed::kNewest;
    if (guesses_.frees.Newest() != address) {
      how = HeapFreed::kStated;
      stated = StateFreed(address);
    }
  }
  guesses_.NoteFreed(address);
  PutOp(kHeapOpFree | static_cast<uint32_t>(how) << kHeapOpFreedShift | stated);
}

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_BATCHES_HEAP_BATCH_H_
