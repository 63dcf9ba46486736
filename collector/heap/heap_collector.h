// Heap events in the collector: those of both rings, in one order, to records
// of the run file.
#ifndef PYMEMRUN_COLLECTOR_HEAP_HEAP_COLLECTOR_H_
#define PYMEMRUN_COLLECTOR_HEAP_HEAP_COLLECTOR_H_

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/types/optional.h"
#include "collector/output/source.h"
#include "collector/side/ring_merger.h"
#include "collector/side/side_items.h"
#include "format/batches/heap_batch.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// All pointers must outlive it. Not thread-safe.
class HeapCollector final : public Source,
                            public SideTaker,
                            public RingMerger::EventTaker {
 public:
  struct Options : SourceParts {
    RingMerger* merger;      // set_events() comes before it drains
    const HeapRates* rates;  // at the start; empty ones are not written
    bool takes_forks;        // true if there is no page source
  };
  explicit HeapCollector(const Options& options);
  // Allocates the collector and touches its pages at once: most of them are
  // written soon, and a fault for each takes several times as long.
  static void* operator new(size_t bytes);
  static void operator delete(void* memory);

  void Describe(uint64_t start_ns) override;

  void NoSlotsBefore(uint64_t now_ns) override;
  void EndRound(uint64_t index, uint64_t looked_ns) override;

  // Consecutive heap slots of the event ring, the first at `index`. `stamp`,
  // `thread` (id in the file) and `size_high` (of the next allocation) are the
  // state before them. Returns size_high for the next run.
  struct Run {
    const EventSlot* begin;
    const EventSlot* end;
    uint64_t index;
    uint64_t stamp;
    uint32_t thread;
    uint32_t size_high;
  };
  uint32_t TakeSlots(Run run);

  // A raw stack id has a new meaning.
  void ForgetStack(uint32_t raw_stack) {
    known_stacks_[raw_stack & (kKnownStacks - 1)] = {};
  }
  void ForgetStacks() { known_stacks_.fill({}); }

  void TakeItem(const SideItemView& item, uint32_t stack) override;

  // Writes the events collected so far.
  void WriteBatch();
  void EndBatch(uint64_t now_ns) override;
  void Finish(uint64_t now_ns, bool process_lives) override;
  void AddToFooter(Footer* footer) const override;

 private:
  static constexpr size_t kKnownStacks = 4096;
  static constexpr size_t kLookEach = 1024;
  struct KnownStack {
    uint32_t raw = 0;
    uint32_t id = 0;
  };
  const EventSlot* TakePlain(const EventSlot* slot, const EventSlot* end);
  void TakeOne(const EventSlot& slot, Run* run);
  void AddAllocation(const HeapSlot& slot, uint32_t size_high);
  uint32_t StackOfSlot(const HeapSlot& slot);
  uint32_t FindStack(const HeapSlot& slot);
  void TakeRates(const SideItemView& item);
  void WriteFork(const SideItemView& item);
  HeapEvent EventOf(const SideItemView& item, uint32_t stack);
  void GiveOutUpTo(uint64_t index);
  void GiveOutFirst();
  bool IsNamed(const WaitingEvent& waiting, uint64_t looked_ns) const;
  bool SettleRealloc(const HeapSlot& slot);
  void Add(const HeapEvent& event);
  // Whether the batch is to be looked at, which need not be at each entry.
  bool IsToLook() const { return encoder_.entries() >= look_at_; }
  void Look();
  void WriteRatesIfAny(const HeapRates& rates);
  void WriteRates(const HeapRates& rates);
  uint64_t lost() const;

  const Options options_;
  HeapBatchEncoder encoder_;
  size_t look_at_ = kLookEach;
  // The free of a realloc that may yet fail. Address 0: no realloc is pending.
  HeapEvent tentative_;
  std::array<KnownStack, kKnownStacks> known_stacks_ = {};
  uint64_t slot_us_ = 0;  // time of the last slots
  HeapRates rates_;       // written last
  uint64_t allocations_ = 0;
  uint64_t frees_ = 0;
  uint64_t written_lost_ = 0;
  absl::optional<uint64_t> finalize_events_;  // number of events before it
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_HEAP_HEAP_COLLECTOR_H_
