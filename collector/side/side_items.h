// What comes on the side ring, given to whom it concerns: page events, heap
// events, GIL events and steps of tasks to one each; definitions are for all.
#ifndef PYMEMRUN_COLLECTOR_SIDE_SIDE_ITEMS_H_
#define PYMEMRUN_COLLECTOR_SIDE_SIDE_ITEMS_H_

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "collector/definitions/definition_table.h"
#include "collector/definitions/mapping_table.h"
#include "collector/definitions/side_stacks.h"
#include "collector/output/record_sink.h"
#include "collector/process/clock_scale.h"
#include "collector/ring/side_reader.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// Takes the items of some kinds, in the ring's order.
class SideTaker {
 public:
  virtual ~SideTaker() = default;
  // `stack` is the item's, defined in the file; 0 of items that have none. The
  // view is valid during the call.
  virtual void TakeItem(const SideItemView& item, uint32_t stack) = 0;
};

// CollectorProcess owns one, and all use it from its one thread. The pointers
// must outlive it.
class SideItems {
 public:
  // `page` begins the region, mapped whole; `pid` is the traced process's.
  SideItems(const ControlPage* page, ReplyPage* reply, pid_t pid,
            DefinitionTable* definitions, RecordSink* out);

  // The items of these kinds go to `taker`, too. Definitions go to stacks() and
  // mappings() alone.
  void Subscribe(SideTaker* taker, std::initializer_list<SideKind> kinds);

  // Empties the ring; see SideReader::Drain. Before Start() the items are kept
  // in memory, within bounds.
  size_t Drain(uint64_t now_ns, bool last);
  // The header is written: gives out what was kept.
  void Start();

  // Whether the last Drain() came to the ring's end, as it was then.
  bool drained() const { return reader_.drained(); }
  // How many calls that held a place in the ring have been taken.
  uint64_t places() const { return reader_.places(); }
  // Items that found no room, or never came whole: those of one party, and
  // those that may have been its.
  uint64_t lost(SideParty party) const {
    return LostOf(party) + LostOf(SideParty::kEither);
  }
  // Whether the traced process has such a thread.
  bool Lives(uint32_t thread) const;
  SideStacks* stacks() { return &stacks_; }
  MappingTable* mappings() { return &mappings_; }

 private:
  struct EarlyItem {
    SideItemView item;
    std::string payload;
  };

  uint64_t LostOf(SideParty party) const {
    const auto& dropped = page_->side_dropped[static_cast<uint32_t>(party)];
    return dropped.load(std::memory_order_relaxed) + reader_.lost(party);
  }
  void Give(const SideItemView& item);
  void Define(const SideItemView& item);
  uint32_t StackOf(const SideItemView& item);

  const ControlPage* const page_;
  const uint32_t main_thread_;
  SideReader reader_;
  SideStacks stacks_;
  MappingTable mappings_;
  // By kind.
  std::array<std::vector<SideTaker*>, kSideKinds> takers_;
  bool started_ = false;
  std::vector<EarlyItem> early_items_;
  size_t early_bytes_ = 0;
};

// What the sources that take items are made of. All must outlive them.
struct SourceParts {
  const ControlPage* page;
  pid_t pid;  // of the traced process
  uint32_t page_bytes;
  const ClockScale* clock;
  DefinitionTable* definitions;
  SideItems* side;
  RecordSink* out;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_SIDE_SIDE_ITEMS_H_
