// The collector's half of heap events: those of the event ring and those of the
// side ring, in one order, to the run file's records.
#ifndef PYMEMRUN_COLLECTOR_HEAP_COLLECTOR_H_
#define PYMEMRUN_COLLECTOR_HEAP_COLLECTOR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "collector/clock_scale.h"
#include "collector/definition_table.h"
#include "collector/record_sink.h"
#include "collector/side_items.h"
#include "format/heap_codec.h"
#include "tracer/ring_layout.h"

namespace pymemrun {

// A block may be allocated by one ring and freed by the other, and its address
// given out anew. So an item of the side ring says which slot of the event ring
// it comes before, see HeapSlot; and a round of both is this:
//   1. whoever calls takes the event ring's head;
//   2. the side ring is emptied, and its heap events wait;
//   3. the event ring is emptied up to that head; before each heap slot come
//      those waiting that are to;
//   4. EndRound(): those that wait for no slot beyond that head.
// Where the event ring has no heap events (sampled), an item waits only until
// its thread has its name, and not for long.
//
// Not thread safe. All pointers must outlive it.
class HeapCollector final : public SideTaker {
 public:
  struct Options {
    ControlPage* page;
    SideItems* side;
    const ClockScale* clock;
    DefinitionTable* definitions;
    RecordSink* out;
    bool merges;  // --heap all: both rings have heap events
  };
  explicit HeapCollector(const Options& options);

  // The header is written; `rates` too, unless they are empty.
  void Start(const HeapRates& rates);

  // The event ring was empty then: what comes is not older, though its time is
  // stated with some slots only.
  void NoSlotsBefore(uint64_t now_ns);
  // The event ring's slots below `index` are taken.
  void EndRound(uint64_t index);

  // An allocation or a free of the event ring, at that index and stamp;
  // `thread` is the file's.
  void TakeSlot(const HeapSlot& slot, uint64_t index, uint32_t size_high,
                uint64_t stamp, uint32_t thread) {
    if (index >= first_waiting_index_) GiveOutUpTo(index);
    if (stamp != last_stamp_) MoveTime(stamp);
    AddSlot(slot, size_high, thread);
  }
  // What the event ring's stack ids mean has changed.
  void ForgetStack(uint32_t raw_stack) {
    known_stacks_[raw_stack & (kKnownStacks - 1)] = {};
  }
  void ForgetStacks() { known_stacks_.fill({}); }

  void TakeItem(const SideItemView& item, uint32_t stack) override;

  // Writes the events gathered so far.
  void WriteBatch();
  // The same, and what was lost since the last call.
  void EndBatch(uint64_t now_ns);
  // Both rings are empty, for good.
  void Finish(uint64_t now_ns);
  void AddToFooter(Footer* footer) const;

 private:
  static constexpr size_t kKnownStacks = 4096;
  struct KnownStack {
    uint32_t raw = 0;
    uint32_t id = 0;
  };
  struct Waiting {
    uint64_t index;  // of the slot that it comes before
    uint64_t time_ns;
    uint32_t native_thread;
    HeapEvent event;
  };

  void AddSlot(const HeapSlot& slot, uint32_t size_high, uint32_t thread);
  uint32_t StackOfSlot(const HeapSlot& slot);
  void MoveTime(uint64_t stamp);
  void TakeRates(const SideItemView& item);
  HeapEvent EventOf(const SideItemView& item, uint32_t stack);
  void GiveOutUpTo(uint64_t index);
  void GiveOutFirst();
  bool IsNamed(const Waiting& waiting, uint64_t now_ns) const;
  bool SettleRealloc(const HeapSlot& slot);
  void Add(const HeapEvent& event);
  void WriteRates(const HeapRates& rates);
  uint64_t lost() const;

  const Options options_;
  HeapEncoder encoder_;
  std::deque<Waiting> waiting_;
  uint64_t first_waiting_index_ = ~uint64_t{0};
  // The free of a realloc that may yet fail; an address of 0: there is none.
  HeapEvent tentative_;
  std::array<KnownStack, kKnownStacks> known_stacks_ = {};
  uint64_t last_stamp_ = 0;  // of the last slot...
  uint64_t slot_us_ = 0;     // ...and its time
  HeapRates rates_;          // written last
  uint64_t allocations_ = 0;
  uint64_t frees_ = 0;
  uint64_t written_lost_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_HEAP_COLLECTOR_H_
