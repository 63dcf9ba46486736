#include "readers/run_relations/event_cursor.h"
#include "readers/run_relations/run_relations.h"

namespace pymemrun {
namespace {

class CallEvents final : public EventCursor<Row> {
 public:
  using EventCursor::EventCursor;
  static constexpr char kName[] = "events";
  static constexpr char kAbout[] =
      "a call, return, line or exception that was logged";
  static constexpr RelationColumn kColumns[] = {
      {"event", ValueKind::kInteger, Unit::kNone, "its number"},
      {"clock_s", ValueKind::kReal, Unit::kSeconds, "since the run began"},
      {"what", ValueKind::kText, Unit::kNone, "CALL, RETURN, C_CALL, ..."},
      {"file", ValueKind::kText, Unit::kNone, "where"},
      {"line", ValueKind::kInteger, Unit::kNone, "where"},
      {"function", ValueKind::kText, Unit::kNone, "of C events the C function"},
      {"rss_bytes", ValueKind::kInteger, Unit::kBytes, "RSS"},
      {"drss_bytes", ValueKind::kInteger, Unit::kBytes,
       "RSS less that of the event before"},
      {"thread", ValueKind::kText, Unit::kNone, "name#id"},
      {"context", ValueKind::kInteger, Unit::kNone,
       "1: logged because the next one was"},
      {"module", ValueKind::kText, Unit::kNone, "of the function"},
      {"exact", ValueKind::kInteger, Unit::kNone, "1: RSS to the page"},
      {"stack", ValueKind::kInteger, Unit::kNone, "an id of stacks"},
      {"call_event", ValueKind::kInteger, Unit::kNone,
       "of a RETURN: the number of its CALL"},
      {"call_s", ValueKind::kReal, Unit::kSeconds, "since then"},
      {"call_drss_bytes", ValueKind::kInteger, Unit::kBytes,
       "what RSS grew by since then"}};
  static std::string Missing(const RelationRun& run) {
    return run.header().calls_off()
               ? "has no calls: it was not made with --trace calls"
               : "";
  }

  bool OnRows(const Row* rows, size_t count) override {
    Take(rows, count);
    return true;
  }
  RelationValue At(int column) override {
    const Row& row = event();
    switch (column) {
      case 0:
        return IntegerOf(row.number);
      case 1:
        return SecondsOf(row.time_us);
      case 2:
        return WhatName(index().Resolve(row.site).kind);
      case 3:
        return TextOrNot(index().Resolve(row.site).file);
      case 4:
        return IntegerOrNot(index().Resolve(row.site).line);
      case 5:
        return TextOrNot(index().Resolve(row.site).function);
      case 6:
        return IntegerOf(row.rss_bytes);
      case 7:
        return int64_t{row.drss_bytes};
      case 8:
        return ThreadOf(row.thread);
      case 9:
        return IntegerOf(row.context);
      case 10:
        return TextOrNot(index().Resolve(row.site).module);
      case 11:
        return IntegerOf(row.exact);
      case 12:
        return IntegerOrNot(row.stack);
      default:
        return OfCall(row, column);
    }
  }

 private:
  static RelationValue OfCall(const Row& row, int column) {
    if (row.call_events == 0) return {};
    if (column == 13) return IntegerOf(row.number - row.call_events);
    if (column == 14) return SecondsOf(row.call_us);
    return int64_t{row.call_drss};
  }
};

}  // namespace

std::unique_ptr<Relation> CallEventsRelation(const RelationRun* run) {
  return MakeEventRelation<CallEvents>(run);
}

}  // namespace pymemrun
