#include <iterator>

#include "readers/run_relations/event_cursor.h"
#include "readers/run_relations/run_relations.h"

namespace pymemrun {
namespace {

struct StateChange {
  StateEvent event;
  std::string other;  // the event's own is not there for long
};

class ThreadStates final : public EventCursor<StateChange> {
 public:
  using EventCursor::EventCursor;
  static constexpr char kName[] = "thread_states";
  static constexpr char kAbout[] = "a change of what a thread does";
  static constexpr RelationColumn kColumns[] = {
      {"clock_s", ValueKind::kReal, Unit::kSeconds, "since the run began"},
      {"thread", ValueKind::kText, Unit::kNone, "name#id"},
      {"state", ValueKind::kText, Unit::kNone,
       "born, runs, preempted, sleeps, seen (to sleep), ended"},
      {"reason", ValueKind::kText, Unit::kNone,
       "of seen: lock, io, timer, page fault, or a system call"}};
  static std::string Missing(const RelationRun& run) {
    return run.has_states() ? ""
                            : "has no states of threads: it was not made "
                              "with --trace states";
  }

  bool OnStates(const StateEvent* events, size_t count) override {
    for (size_t i = 0; i < count; ++i) {
      Take({events[i], std::string(events[i].other)});
    }
    return true;
  }
  RelationValue At(int column) override {
    const StateEvent& of = event().event;
    switch (column) {
      case 0:
        return SecondsOfNs(of.time_ns);
      case 1:
        return ThreadOf(of.thread);
      case 2:
        return NameOf(of.action);
      default:
        return of.action == STATE_SEEN ? ReasonOf(of.reason) : RelationValue();
    }
  }

 private:
  static RelationValue NameOf(StateAction action) {
    static constexpr absl::string_view kNames[] = {
        "born", "runs", "preempted", "sleeps", "seen", "ended"};
    const auto index = static_cast<size_t>(action);
    return index < std::size(kNames) ? kNames[index] : RelationValue();
  }
  RelationValue ReasonOf(SleepReason reason) const {
    switch (reason) {
      case SLEEP_LOCK:
        return "lock";
      case SLEEP_IO:
        return "io";
      case SLEEP_TIMER:
        return "timer";
      case SLEEP_PAGE_FAULT:
        return "page fault";
      case SLEEP_OTHER:
        return TextOrNot(event().other);
      default:
        return {};
    }
  }
};

}  // namespace

std::unique_ptr<Relation> ThreadStatesRelation(const RelationRun* run) {
  return MakeEventRelation<ThreadStates>(run);
}

}  // namespace pymemrun
