// Marks, counters' values, and runs of the garbage collector.
#include <algorithm>

#include "readers/run_relations/event_cursor.h"
#include "readers/run_relations/run_relations.h"

namespace pymemrun {
namespace {

class Marks final : public EventCursor<Mark> {
 public:
  using EventCursor::EventCursor;
  static constexpr char kName[] = "marks";
  static constexpr char kAbout[] = "a mark that the program set";
  static constexpr RelationColumn kColumns[] = {
      {"clock_s", ValueKind::kReal, Unit::kSeconds, "since the run began"},
      {"label", ValueKind::kText, Unit::kNone, "its text"},
      {"rss_bytes", ValueKind::kInteger, Unit::kBytes, "RSS"},
      {"thread", ValueKind::kText, Unit::kNone, "name#id"},
      {"event", ValueKind::kInteger, Unit::kNone,
       "the number of the event after it"}};
  static std::string Missing(const RelationRun&) { return ""; }

  void OnMark(const Mark& mark) override { Take(mark); }
  RelationValue At(int column) override {
    switch (column) {
      case 0:
        return SecondsOf(event().time_us());
      case 1:
        return absl::string_view(event().label());
      case 2:
        return IntegerOrNot(event().rss_bytes());
      case 3:
        return ThreadOf(event().thread());
      default:
        return IntegerOf(event().next_number());
    }
  }
};

class Counters final : public EventCursor<CounterValue> {
 public:
  using EventCursor::EventCursor;
  static constexpr char kName[] = "counters";
  static constexpr char kAbout[] = "a value that the program gave a counter";
  static constexpr RelationColumn kColumns[] = {
      {"clock_s", ValueKind::kReal, Unit::kSeconds, "since the run began"},
      {"name", ValueKind::kText, Unit::kNone, "the counter's"},
      {"value", ValueKind::kReal, Unit::kNone, "as it was given"},
      {"thread", ValueKind::kText, Unit::kNone, "name#id"}};
  static std::string Missing(const RelationRun&) { return ""; }

  void OnCounter(const CounterValue& value) override { Take(value); }
  RelationValue At(int column) override {
    switch (column) {
      case 0:
        return SecondsOf(event().time_us());
      case 1:
        return absl::string_view(event().name());
      case 2:
        return event().has_whole() ? RelationValue(int64_t{event().whole()})
                                   : RelationValue(event().real());
      default:
        return ThreadOf(event().thread());
    }
  }
};

class GcRuns final : public EventCursor<GcRun> {
 public:
  using EventCursor::EventCursor;
  static constexpr char kName[] = "gc_runs";
  static constexpr char kAbout[] = "a run of the garbage collector";
  static constexpr RelationColumn kColumns[] = {
      {"clock_s", ValueKind::kReal, Unit::kSeconds,
       "when it ended, since the run began"},
      {"lasted_s", ValueKind::kReal, Unit::kSeconds, "how long it took"},
      {"generation", ValueKind::kInteger, Unit::kNone, "0, 1 or 2"},
      {"collected", ValueKind::kInteger, Unit::kNone, "objects that it freed"},
      {"uncollectable", ValueKind::kInteger, Unit::kNone,
       "objects that it could not free"},
      {"thread", ValueKind::kText, Unit::kNone, "name#id"},
      {"file", ValueKind::kText, Unit::kNone, "where the program was"},
      {"line", ValueKind::kInteger, Unit::kNone, "where the program was"},
      {"function", ValueKind::kText, Unit::kNone, "where the program was"}};
  static std::string Missing(const RelationRun&) { return ""; }

  void OnGcRun(const GcRun& run) override { Take(run); }
  RelationValue At(int column) override {
    const GcRun& of = event();
    switch (column) {
      case 0:
        return SecondsOf(of.time_us());
      case 1:
        return SecondsOf(of.time_us() - std::min(of.begin_us(), of.time_us()));
      case 2:
        return IntegerOf(of.generation());
      case 3:
        return IntegerOf(of.collected());
      case 4:
        return IntegerOf(of.uncollectable());
      case 5:
        return ThreadOf(of.thread());
      case 6:
        return FileOf(of.stack());
      case 7:
        return LineOf(of.stack());
      default:
        return FunctionOf(of.stack());
    }
  }
};

}  // namespace

std::unique_ptr<Relation> MarksRelation(const RelationRun* run) {
  return MakeEventRelation<Marks>(run);
}

std::unique_ptr<Relation> CountersRelation(const RelationRun* run) {
  return MakeEventRelation<Counters>(run);
}

std::unique_ptr<Relation> GcRunsRelation(const RelationRun* run) {
  return MakeEventRelation<GcRuns>(run);
}

}  // namespace pymemrun
