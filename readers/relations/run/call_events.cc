#include "readers/relations/run/event_cursor.h"
#include "readers/relations/run/run_relations.h"

namespace pymemrun {
namespace {

// Each logged event is a row, in the order of the file.
class CallCursor final : public EventCursor<Row> {
 public:
  using EventCursor::EventCursor;
  bool OnRows(const Row* rows, size_t count) override {
    return Take(rows, count);
  }
};

using CallRow = EventRow<Row>;
SourceLocation PlaceOf(const CallRow& row) {
  return row.index().Resolve(row.of.site);
}
// A cell of a RETURN whose CALL was seen.
RelationValue OfCall(const CallRow& row, const RelationValue& value) {
  return row.of.call_events == 0 ? RelationValue() : value;
}

constexpr ColumnOf<CallRow> kCallColumns[] = {
    {"event", kInteger, "its number",
     [](const CallRow& row) { return IntegerOf(row.of.number); }},
    {"clock_s", kSeconds, "since the run began",
     [](const CallRow& row) { return SecondsOf(row.of.time_us); }},
    {"what", kText, "CALL, RETURN, C_CALL, ...",
     [](const CallRow& row) {
       return RelationValue(WhatName(PlaceOf(row).kind));
     }},
    {"file", kText, "where",
     [](const CallRow& row) { return TextOrNot(PlaceOf(row).file); }},
    {"line", kInteger, "where",
     [](const CallRow& row) { return IntegerOrNot(PlaceOf(row).line); }},
    {"function", kText, "the function; for C events the C function",
     [](const CallRow& row) { return TextOrNot(PlaceOf(row).function); }},
    {"rss_bytes", kBytes, "RSS",
     [](const CallRow& row) { return IntegerOf(row.of.rss_bytes); }},
    {"drss_bytes", kBytes, "RSS less that of the event before",
     [](const CallRow& row) {
       return RelationValue(int64_t{row.of.drss_bytes});
     }},
    {"thread", kText, "name#id",
     [](const CallRow& row) { return row.Thread(row.of.thread); }},
    {"context", kInteger, "1: logged because the next one was",
     [](const CallRow& row) { return IntegerOf(row.of.context); }},
    {"module", kText, "module of the function",
     [](const CallRow& row) { return TextOrNot(PlaceOf(row).module); }},
    {"exact", kInteger, "1: rss_bytes is exact to the page",
     [](const CallRow& row) { return IntegerOf(row.of.exact); }},
    {"stack", kInteger, "an id of stacks",
     [](const CallRow& row) { return IntegerOrNot(row.of.stack); }},
    {"call_event", kInteger, "for a RETURN, the number of its CALL",
     [](const CallRow& row) {
       return OfCall(row, IntegerOf(row.of.number - row.of.call_events));
     }},
    {"call_s", kSeconds, "time since that CALL",
     [](const CallRow& row) { return OfCall(row, SecondsOf(row.of.call_us)); }},
    {"call_drss_bytes", kBytes, "how much RSS grew since that CALL",
     [](const CallRow& row) {
       return OfCall(row, int64_t{row.of.call_drss});
     }}};

}  // namespace

std::unique_ptr<Relation> CallEventsRelation(const RelationRun* run) {
  return MakeEventRelation<CallCursor>(
      {"events", "a call, return, line or exception that was logged",
       kCallColumns},
      run, Recorded::kCalls);
}

}  // namespace pymemrun
