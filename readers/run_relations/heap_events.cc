#include "readers/heap/heap_places.h"
#include "readers/heap/heap_weights.h"
#include "readers/run_relations/event_cursor.h"
#include "readers/run_relations/run_relations.h"

namespace pymemrun {
namespace {

struct WeighedEvent {
  HeapEvent event;
  double weight;  // of an allocation
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

class HeapEvents final : public EventCursor<WeighedEvent> {
 public:
  using EventCursor::EventCursor;
  static constexpr char kName[] = "heap_events";
  static constexpr char kAbout[] = "an allocation or free that was recorded";
  static constexpr RelationColumn kColumns[] = {
      {"clock_s", ValueKind::kReal, Unit::kSeconds, "since the run began"},
      {"action", ValueKind::kText, Unit::kNone,
       "allocated, freed, unmapped, moved"},
      {"address", ValueKind::kText, Unit::kNone, "0x..."},
      {"size_bytes", ValueKind::kInteger, Unit::kBytes, "as it was asked for"},
      {"weight", ValueKind::kReal, Unit::kNone,
       "how many it stands for, where some were sampled"},
      {"allocator", ValueKind::kText, Unit::kNone,
       "obj, mem, raw, malloc, mmap, mremap"},
      {"file", ValueKind::kText, Unit::kNone, "of the innermost frame"},
      {"line", ValueKind::kInteger, Unit::kNone, "of the innermost frame"},
      {"function", ValueKind::kText, Unit::kNone, "of the innermost frame"},
      {"thread", ValueKind::kText, Unit::kNone, "name#id"},
      {"stack", ValueKind::kInteger, Unit::kNone, "an id of stacks"},
      {"caller_module", ValueKind::kText, Unit::kNone,
       "the library whose code called malloc"}};
  static std::string Missing(const RelationRun& run) {
    return run.header().heap() == HEAP_OFF
               ? "has no heap events: it was made with --heap off"
               : "";
  }

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
  RelationValue At(int column) override {
    const HeapEvent& of = event().event;
    const bool is_block = of.free_of == HeapFreeOf::kBlock;
    switch (column) {
      case 0:
        return SecondsOf(of.time_us);
      case 1:
        return ActionOf(of);
      case 2:
        return AddressOf(of.address);
      case 3:
        return of.is_free && is_block ? RelationValue() : IntegerOf(of.size);
      case 9:
        return ThreadOf(of.thread);
      default:
        return of.is_free ? RelationValue() : OfAllocation(of, column);
    }
  }

 private:
  RelationValue OfAllocation(const HeapEvent& of, int column) const {
    switch (column) {
      case 4:
        return event().weight == 0 ? RelationValue() : event().weight;
      case 5:
        return HeapAllocatorName(of.allocator);
      case 6:
        return FileOf(of.stack);
      case 7:
        return LineOf(of.stack);
      case 8:
        return FunctionOf(of.stack);
      case 10:
        return IntegerOrNot(of.stack);
      default:
        return of.code == 0 ? RelationValue() : index().MappingName(of.code);
    }
  }

  HeapWeights weights_;
  uint32_t rate_ = 0;  // number of the rates in force
};

}  // namespace

std::unique_ptr<Relation> HeapEventsRelation(const RelationRun* run) {
  return MakeEventRelation<HeapEvents>(run);
}

}  // namespace pymemrun
