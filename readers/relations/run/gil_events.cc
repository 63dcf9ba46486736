#include "readers/relations/run/event_cursor.h"
#include "readers/relations/run/run_relations.h"
#include "readers/replay/rows/side_cells.h"

namespace pymemrun {
namespace {

// Events as they are in the file. The relations gil_threads and gil_waits have
// them put together.
class GilCursor final : public EventCursor<GilEvent> {
 public:
  using EventCursor::EventCursor;
  bool OnGil(const GilEvent* events, size_t count) override {
    return Take(events, count);
  }
};

using GilRow = EventRow<GilEvent>;
// A cell of what ends a hold.
RelationValue OfHold(const GilRow& row, const RelationValue& value) {
  return HasHold(row.of.action) ? value : RelationValue();
}

constexpr ColumnOf<GilRow> kGilColumns[] = {
    {"clock_s", kSeconds, "since the run began",
     [](const GilRow& row) { return SecondsOfNs(row.of.time_ns); }},
    {"action", kText, "taken, waiting, giving_way, ... as pymemcat has it",
     [](const GilRow& row) {
       return RelationValue(GilActionName(row.of.action));
     }},
    {"thread", kText, "name#id",
     [](const GilRow& row) { return row.Thread(row.of.thread); }},
    {"gil", kInteger, "which one, from 1 on",
     [](const GilRow& row) {
       return IsOfLocks(row.of.action) ? RelationValue()
                                       : IntegerOf(row.of.gil);
     }},
    {"file", kText, "file of the code that waits or holds it",
     [](const GilRow& row) { return row.File(row.of.stack); }},
    {"line", kInteger, "line of that code",
     [](const GilRow& row) { return row.Line(row.of.stack); }},
    {"function", kText, "function of that code",
     [](const GilRow& row) { return row.Function(row.of.stack); }},
    {"stack", kInteger, "an id of stacks",
     [](const GilRow& row) { return IntegerOrNot(row.of.stack); }},
    {"free_s", kSeconds, "how long the GIL had been free",
     [](const GilRow& row) {
       return OfHold(row, SecondsOfNs(row.of.free_ns));
     }},
    {"pauses", kInteger,
     "how often its last holder had released and retaken it",
     [](const GilRow& row) { return OfHold(row, IntegerOf(row.of.pauses)); }},
    {"paused_s", kSeconds, "for how long in all",
     [](const GilRow& row) {
       return OfHold(row, SecondsOfNs(row.of.paused_ns));
     }},
    {"by", kText, "the thread that let it continue", [](const GilRow& row) {
       return HasBy(row.of.action) && row.of.by != 0 ? row.Thread(row.of.by)
                                                     : RelationValue();
     }}};

}  // namespace

std::unique_ptr<Relation> GilEventsRelation(const RelationRun* run) {
  return MakeEventRelation<GilCursor>(
      {"gil_events", "what a thread did with the GIL, or a lock", kGilColumns},
      run, Recorded::kGil);
}

}  // namespace pymemrun
