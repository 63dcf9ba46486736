#include "readers/rows/gil_cells.h"
#include "readers/run_relations/event_cursor.h"
#include "readers/run_relations/run_relations.h"

namespace pymemrun {
namespace {

class GilEvents final : public EventCursor<GilEvent> {
 public:
  using EventCursor::EventCursor;
  static constexpr char kName[] = "gil_events";
  static constexpr char kAbout[] = "what a thread did with the GIL, or a lock";
  static constexpr RelationColumn kColumns[] = {
      {"clock_s", ValueKind::kReal, Unit::kSeconds, "since the run began"},
      {"action", ValueKind::kText, Unit::kNone,
       "taken, waiting, giving_way, ... as pymemcat has it"},
      {"thread", ValueKind::kText, Unit::kNone, "name#id"},
      {"gil", ValueKind::kInteger, Unit::kNone, "which one, from 1 on"},
      {"file", ValueKind::kText, Unit::kNone, "of who waits or holds it"},
      {"line", ValueKind::kInteger, Unit::kNone, "likewise"},
      {"function", ValueKind::kText, Unit::kNone, "likewise"},
      {"stack", ValueKind::kInteger, Unit::kNone, "an id of stacks"},
      {"free_s", ValueKind::kReal, Unit::kSeconds,
       "how long the thread was without it"},
      {"pauses", ValueKind::kInteger, Unit::kNone, "how often, in short"},
      {"paused_s", ValueKind::kReal, Unit::kSeconds, "how long, of these"},
      {"by", ValueKind::kText, Unit::kNone, "the thread that let it go on"}};
  static std::string Missing(const RelationRun& run) {
    return run.has_gil()
               ? ""
               : "has no events of the GIL: it was not made with --trace gil";
  }

  bool OnGil(const GilEvent* events, size_t count) override {
    Take(events, count);
    return true;
  }
  RelationValue At(int column) override {
    const GilEvent& of = event();
    switch (column) {
      case 0:
        return SecondsOfNs(of.time_ns);
      case 1:
        return GilActionName(of.action);
      case 2:
        return ThreadOf(of.thread);
      case 3:
        return IsOfLocks(of.action) ? RelationValue() : IntegerOf(of.gil);
      case 4:
        return FileOf(of.stack);
      case 5:
        return LineOf(of.stack);
      case 6:
        return FunctionOf(of.stack);
      case 7:
        return IntegerOrNot(of.stack);
      case 11:
        return HasBy(of.action) && of.by != 0 ? ThreadOf(of.by)
                                              : RelationValue();
      default:
        return HasHold(of.action) ? OfHold(of, column) : RelationValue();
    }
  }

 private:
  static RelationValue OfHold(const GilEvent& of, int column) {
    if (column == 9) return IntegerOf(of.pauses);
    return SecondsOfNs(column == 8 ? of.free_ns : of.paused_ns);
  }
};

}  // namespace

std::unique_ptr<Relation> GilEventsRelation(const RelationRun* run) {
  return MakeEventRelation<GilEvents>(run);
}

}  // namespace pymemrun
