#include "readers/relations/run/event_cursor.h"
#include "readers/relations/run/run_relations.h"
#include "readers/replay/heap/heap_places.h"
#include "readers/replay/heap/heap_weights.h"

namespace pymemrun {
namespace {

struct WeighedEvent {
  HeapEvent event;
  double weight;  // of an allocation
};

// An event has no weight of its own: that depends on the rates in force when it
// was recorded, which precede it in the file.
class HeapEventCursor final : public EventCursor<WeighedEvent> {
 public:
  using EventCursor::EventCursor;
  HeapUse heap_use() const override { return HeapUse::kEvents; }
  void OnHeapRates(const HeapRates& rates) override {
    rate_ = weights_.NumberOf(rates);
  }
  bool OnHeap(const HeapEvent* events, size_t count) override {
    for (size_t i = 0; i < count; ++i) {
      const HeapEvent& event = events[i];
      const bool has_weight = !event.is_free && event.allocator != HEAP_MREMAP;
      Take({event, has_weight ? weights_.WeightOf(rate_, event.size) : 0});
    }
    return true;
  }

 private:
  HeapWeights weights_;
  uint32_t rate_ = 0;  // number of the rates in force
};

absl::string_view ActionOf(const HeapEvent& event) {
  switch (event.free_of) {
    case HeapFreeOf::kRange:
      return "unmapped";
    case HeapFreeOf::kMovedRange:
      return "moved";
    case HeapFreeOf::kBlock:
      break;
  }
  return event.is_free ? "freed" : "allocated";
}

using HeapRow = EventRow<WeighedEvent>;

// The stack of an allocation; a free has none.
uint32_t StackOf(const HeapRow& row) {
  return row.of.event.is_free ? 0 : row.of.event.stack;
}

constexpr ColumnOf<HeapRow> kHeapEventColumns[] = {
    {"clock_s", kSeconds, "since the run began",
     [](const HeapRow& row) { return SecondsOf(row.of.event.time_us); }},
    {"action", kText, "allocated, freed, unmapped, moved",
     [](const HeapRow& row) { return RelationValue(ActionOf(row.of.event)); }},
    {"address", kText, "0x...",
     [](const HeapRow& row) {
       return AddressOf(row.of.event.address, row.made);
     }},
    {"size_bytes", kBytes, "size as requested",
     [](const HeapRow& row) {
       const HeapEvent& event = row.of.event;
       const bool is_block = event.free_of == HeapFreeOf::kBlock;
       return event.is_free && is_block ? RelationValue()
                                        : IntegerOf(event.size);
     }},
    {"weight", kReal, "how many blocks it represents, if blocks were sampled",
     [](const HeapRow& row) {
       return row.of.event.is_free || row.of.weight == 0
                  ? RelationValue()
                  : RelationValue(row.of.weight);
     }},
    {"allocator", kText, "obj, mem, raw, malloc, mmap, mremap",
     [](const HeapRow& row) {
       return row.of.event.is_free
                  ? RelationValue()
                  : RelationValue(HeapAllocatorName(row.of.event.allocator));
     }},
    {"file", kText, "file of the innermost frame",
     [](const HeapRow& row) { return row.File(StackOf(row)); }},
    {"line", kInteger, "line of the innermost frame",
     [](const HeapRow& row) { return row.Line(StackOf(row)); }},
    {"function", kText, "function of the innermost frame",
     [](const HeapRow& row) { return row.Function(StackOf(row)); }},
    {"thread", kText, "name#id",
     [](const HeapRow& row) { return row.Thread(row.of.event.thread); }},
    {"stack", kInteger, "an id of stacks",
     [](const HeapRow& row) { return IntegerOrNot(StackOf(row)); }},
    {"caller_module", kText, "the library whose code called malloc",
     [](const HeapRow& row) {
       const HeapEvent& event = row.of.event;
       return event.is_free || event.code == 0
                  ? RelationValue()
                  : RelationValue(row.index().MappingName(event.code));
     }}};

}  // namespace

std::unique_ptr<Relation> HeapEventsRelation(const RelationRun* run) {
  return MakeEventRelation<HeapEventCursor>(
      {"heap_events", "an allocation or free that was recorded",
       kHeapEventColumns},
      run, Recorded::kHeap);
}

}  // namespace pymemrun
