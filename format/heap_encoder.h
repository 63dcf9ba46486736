// Heap events to HeapBatch: the other half of HeapDecoder (heap_codec.h). Here,
// and not behind a call, as it takes most of the collector's time when every
// event is recorded. FORMAT.md has the rules.
#ifndef PYMEMRUN_FORMAT_HEAP_ENCODER_H_
#define PYMEMRUN_FORMAT_HEAP_ENCODER_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/base/attributes.h"
#include "format/heap_event.h"
#include "format/heap_guesses.h"
#include "format/heap_op.h"
#include "format/sparse_column.h"
#include "format/trace.pb.h"

namespace pymemrun {

// Some 300 KiB and the batch. Not thread safe.
class HeapEncoder {
 public:
  HeapEncoder() { Begin(); }
  HeapEncoder(const HeapEncoder&) = delete;
  HeapEncoder& operator=(const HeapEncoder&) = delete;

  void Add(const HeapEvent& event) {
    SetState(event.time_us, event.thread, event.is_free ? code_ : event.code);
    if (event.free_of != HeapFreeOf::kBlock) return AddRange(event);
    if (event.is_free) return AddFree(event.address);
    AddAllocation(event.address, event.size, event.stack,
                  static_cast<uint32_t>(event.allocator));
  }

  // The same in parts: when and by whom the entries from here on are, and by
  // which code the allocations. Times never fall, in all that is encoded: one
  // that does is taken for the last.
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
  // No more bytes than these, and one for each entry, does the batch have.
  size_t max_stated_bytes() const;
  // Moves what was added to `batch`, and begins anew; the state stays.
  void Take(HeapBatch* batch);

 private:
  // States an entry in a sparse column.
  class AtWriter {
   public:
    void Add(size_t entry, Column32* at) {
      at->Add(static_cast<uint32_t>(entry - last_));
      last_ = entry;
    }
    // Of an entry above 0: whether it was the last one.
    bool IsAt(size_t entry) const { return last_ == entry; }

   private:
    size_t last_ = 0;
  };

  void Begin();
  void ChangeState(uint64_t time_us, uint32_t thread, uint32_t code);
  void Change(uint32_t value, AtWriter* writer, Column32* at, Column32* values);
  void DropWhatNoEntryHas();
  void GrowOps();
  void PutOp(uint32_t bits) {
    if (entries_ == ops_.size()) GrowOps();
    ops_[entries_++] = static_cast<char>(bits);
  }
  // Returns the bit that tells the unit.
  uint32_t StateStep(uint64_t step);
  uint32_t StateFreed(uint64_t address);

  size_t entries_ = 0;
  std::string ops_;  // of the entries, with room behind them
  uint64_t time_us_ = 0;
  uint32_t thread_ = 0;
  uint32_t code_ = 0;
  HeapBatch batch_;
  AtWriter time_at_, thread_at_, code_at_;
  HeapGuesses guesses_;
};

inline void HeapEncoder::AddAllocation(uint64_t address, uint64_t size,
                                       uint32_t stack, uint32_t allocator) {
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

inline void HeapEncoder::AddFree(uint64_t address) {
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

#endif  // PYMEMRUN_FORMAT_HEAP_ENCODER_H_
