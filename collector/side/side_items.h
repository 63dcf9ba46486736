// Distributes items of the side ring to their takers: page events, heap events,
// GIL events and task steps. All takers share the definitions.
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

// Takes items of some kinds, in the order of the ring.
class SideTaker {
 public:
  virtual ~SideTaker() = default;
  // `stack` is the StackDef.id of the item, already defined in the file; 0 if
  // the item has no stack. `item` is valid during the call.
  virtual void TakeItem(const SideItemView& item, uint32_t stack) = 0;
};

// CollectorProcess owns one. All callers are on its one thread. The pointers
// must outlive it.
class SideItems {
 public:
  // `page` begins the whole mapped region; `pid` is the traced process.
  SideItems(const ControlPage* page, ReplyPage* reply, pid_t pid,
            DefinitionTable* definitions, RecordSink* out);

  // Adds `taker` to the takers of these kinds. Definitions go only to stacks()
  // and mappings().
  void Subscribe(SideTaker* taker, std::initializer_list<SideKind> kinds);

  // Drains the ring; see SideReader::Drain. Returns the number of items. Before
  // Start() items are kept in memory, within limits.
  size_t Drain(uint64_t now_ns, bool last);
  // Call this once the header was written: distributes the kept items.
  void Start();

  // Whether the last Drain() reached the end of the ring.
  bool drained() const { return reader_.drained(); }
  // Number of items taken that only held a place in the ring.
  uint64_t places() const { return reader_.places(); }
  // Number of lost items of this party: dropped on a full ring, or never
  // committed. Includes items whose party is not known.
  uint64_t lost(SideParty party) const {
    return LostOf(party) + LostOf(SideParty::kEither);
  }
  // Whether the traced process has this Linux thread.
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
  // Indexed by kind.
  std::array<std::vector<SideTaker*>, kSideKinds> takers_;
  bool started_ = false;
  std::vector<EarlyItem> early_items_;
  size_t early_bytes_ = 0;
};

// Dependencies of the sources that take items. All must outlive the sources.
struct SourceParts {
  const ControlPage* page;
  pid_t pid;  // the traced process
  uint32_t page_bytes;
  const ClockScale* clock;
  DefinitionTable* definitions;
  SideItems* side;
  RecordSink* out;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_SIDE_SIDE_ITEMS_H_
