#include <iterator>

#include "readers/relations/run/event_cursor.h"
#include "readers/relations/run/run_relations.h"

namespace pymemrun {
namespace {

struct StateChange {
  StateEvent event;
  std::string other;  // the event's own is not there for long
};

// Changes as they are in the file. The relation state_sums has the time in each
// state.
class StateCursor final : public EventCursor<StateChange> {
 public:
  using EventCursor::EventCursor;
  bool OnStates(const StateEvent* events, size_t count) override {
    for (size_t i = 0; i < count; ++i) {
      Take({events[i], std::string(events[i].other)});
    }
    return true;
  }
};

RelationValue NameOf(StateAction action) {
  static constexpr absl::string_view kNames[] = {"born",   "runs", "preempted",
                                                 "sleeps", "seen", "ended"};
  const auto index = static_cast<size_t>(action);
  return index < std::size(kNames) ? kNames[index] : RelationValue();
}

RelationValue ReasonOf(const StateChange& change) {
  if (change.event.action != STATE_SEEN) return {};
  switch (change.event.reason) {
    case SLEEP_LOCK:
      return "lock";
    case SLEEP_IO:
      return "io";
    case SLEEP_TIMER:
      return "timer";
    case SLEEP_PAGE_FAULT:
      return "page fault";
    case SLEEP_OTHER:
      return TextOrNot(change.other);
    default:
      return {};
  }
}

using StateRow = EventRow<StateChange>;
constexpr ColumnOf<StateRow> kStateChangeColumns[] = {
    {"clock_s", kSeconds, "since the run began",
     [](const StateRow& row) { return SecondsOfNs(row.of.event.time_ns); }},
    {"thread", kText, "name#id",
     [](const StateRow& row) { return row.Thread(row.of.event.thread); }},
    {"state", kText, "born, runs, preempted, sleeps, seen (to sleep), ended",
     [](const StateRow& row) { return NameOf(row.of.event.action); }},
    {"reason", kText, "for seen: lock, io, timer, page fault, or a system call",
     [](const StateRow& row) { return ReasonOf(row.of); }}};

}  // namespace

std::unique_ptr<Relation> ThreadStatesRelation(const RelationRun* run) {
  return MakeEventRelation<StateCursor>(
      {"thread_states", "a change of what a thread does", kStateChangeColumns},
      run, Recorded::kStates);
}

}  // namespace pymemrun
