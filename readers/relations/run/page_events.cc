#include "readers/relations/run/event_cursor.h"
#include "readers/relations/run/run_relations.h"
#include "readers/replay/rows/side_cells.h"

namespace pymemrun {
namespace {

// Events as they are in the file. The relation pages has who owns what at a
// moment.
class PageCursor final : public EventCursor<PageEntry> {
 public:
  using EventCursor::EventCursor;
  bool OnPages(const PageEntry* entries, size_t count) override {
    return Take(entries, count);
  }
};

using PageRow = EventRow<PageEntry>;
constexpr ColumnOf<PageRow> kPageColumns[] = {
    {"clock_s", kSeconds, "since the run began",
     [](const PageRow& row) { return SecondsOf(row.of.time_us); }},
    {"action", kText, "came, populated, unmapped, discarded, moved, trimmed",
     [](const PageRow& row) {
       return RelationValue(ActionName(row.of.action));
     }},
    {"address", kText, "address of the first page, 0x...",
     [](const PageRow& row) {
       return AddressOf(row.of.page * row.run.header().page_bytes(), row.made);
     }},
    {"pages", kInteger, "how many",
     [](const PageRow& row) { return IntegerOf(row.of.pages); }},
    {"bytes", kBytes, "bytes of these pages",
     [](const PageRow& row) {
       return IntegerOf(row.of.pages * row.run.header().page_bytes());
     }},
    {"weight", kInteger, "how many pages each page that came represents",
     [](const PageRow& row) {
       return IsComing(row.of.action) ? IntegerOf(row.of.weight)
                                      : RelationValue();
     }},
    {"inferred", kInteger,
     "1: the stack is the nearest one of the thread, not that of the page "
     "fault",
     [](const PageRow& row) { return IntegerOf(row.of.inferred); }},
    {"file", kText, "file of the innermost frame",
     [](const PageRow& row) { return row.File(row.of.stack); }},
    {"line", kInteger, "line of the innermost frame",
     [](const PageRow& row) { return row.Line(row.of.stack); }},
    {"function", kText, "function of the innermost frame",
     [](const PageRow& row) { return row.Function(row.of.stack); }},
    {"thread", kText, "name#id",
     [](const PageRow& row) { return row.Thread(row.of.thread); }},
    {"stack", kInteger, "an id of stacks",
     [](const PageRow& row) { return IntegerOrNot(row.of.stack); }},
    {"mapping", kText, "what the pages are part of", [](const PageRow& row) {
       return row.of.mapping == 0
                  ? RelationValue()
                  : TextOrNot(row.index().MappingName(row.of.mapping));
     }}};

}  // namespace

std::unique_ptr<Relation> PageEventsRelation(const RelationRun* run) {
  return MakeEventRelation<PageCursor>(
      {"page_events", "pages that came, went or moved", kPageColumns}, run,
      Recorded::kFaults);
}

}  // namespace pymemrun
