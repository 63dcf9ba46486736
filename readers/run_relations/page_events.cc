#include "readers/rows/page_cells.h"
#include "readers/run_relations/event_cursor.h"
#include "readers/run_relations/run_relations.h"

namespace pymemrun {
namespace {

class PageEvents final : public EventCursor<PageEntry> {
 public:
  using EventCursor::EventCursor;
  static constexpr char kName[] = "page_events";
  static constexpr char kAbout[] = "pages that came, went or moved";
  static constexpr RelationColumn kColumns[] = {
      {"clock_s", ValueKind::kReal, Unit::kSeconds, "since the run began"},
      {"action", ValueKind::kText, Unit::kNone,
       "came, populated, unmapped, discarded, moved, trimmed"},
      {"address", ValueKind::kText, Unit::kNone, "of the first page, 0x..."},
      {"pages", ValueKind::kInteger, Unit::kNone, "how many"},
      {"bytes", ValueKind::kInteger, Unit::kBytes, "of these"},
      {"weight", ValueKind::kInteger, Unit::kNone,
       "how many each stands for, of those that came"},
      {"inferred", ValueKind::kInteger, Unit::kNone,
       "1: the stack is not that of the moment"},
      {"file", ValueKind::kText, Unit::kNone, "of the innermost frame"},
      {"line", ValueKind::kInteger, Unit::kNone, "of the innermost frame"},
      {"function", ValueKind::kText, Unit::kNone, "of the innermost frame"},
      {"thread", ValueKind::kText, Unit::kNone, "name#id"},
      {"stack", ValueKind::kInteger, Unit::kNone, "an id of stacks"},
      {"mapping", ValueKind::kText, Unit::kNone, "what the pages are part of"}};
  static std::string Missing(const RelationRun& run) {
    if (run.header().page_period() != 0) return "";
    return run.header().page_scan()
               ? "has no page events: pages were scanned"
               : "has no page events: it was not made with --trace pages";
  }

  bool OnPages(const PageEntry* entries, size_t count) override {
    Take(entries, count);
    return true;
  }
  RelationValue At(int column) override {
    const PageEntry& entry = event();
    const uint64_t page_bytes = run().header().page_bytes();
    switch (column) {
      case 0:
        return SecondsOf(entry.time_us);
      case 1:
        return ActionName(entry.action);
      case 2:
        return AddressOf(entry.page * page_bytes);
      case 3:
        return IntegerOf(entry.pages);
      case 4:
        return IntegerOf(entry.pages * page_bytes);
      case 5:
        return IsComing(entry.action) ? IntegerOf(entry.weight)
                                      : RelationValue();
      case 6:
        return IntegerOf(entry.inferred);
      case 7:
        return FileOf(entry.stack);
      case 8:
        return LineOf(entry.stack);
      case 9:
        return FunctionOf(entry.stack);
      case 10:
        return ThreadOf(entry.thread);
      case 11:
        return IntegerOrNot(entry.stack);
      default:
        return entry.mapping == 0
                   ? RelationValue()
                   : TextOrNot(index().MappingName(entry.mapping));
    }
  }
};

}  // namespace

std::unique_ptr<Relation> PageEventsRelation(const RelationRun* run) {
  return MakeEventRelation<PageEvents>(run);
}

}  // namespace pymemrun
