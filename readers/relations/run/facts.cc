// Marks, counters' values, runs of the garbage collector, and samples of the
// process.
#include <algorithm>

#include "readers/relations/run/event_cursor.h"
#include "readers/relations/run/run_relations.h"

namespace pymemrun {
namespace {

class MarkCursor final : public EventCursor<Mark> {
 public:
  using EventCursor::EventCursor;
  void OnMark(const Mark& mark) override { Take(mark); }
};
using MarkRow = EventRow<Mark>;
constexpr ColumnOf<MarkRow> kMarkColumns[] = {
    {"clock_s", kSeconds, "since the run began",
     [](const MarkRow& row) { return SecondsOf(row.of.time_us()); }},
    {"label", kText, "its text",
     [](const MarkRow& row) { return RelationValue(row.of.label()); }},
    {"rss_bytes", kBytes, "RSS",
     [](const MarkRow& row) { return IntegerOrNot(row.of.rss_bytes()); }},
    {"thread", kText, "name#id",
     [](const MarkRow& row) { return row.Thread(row.of.thread()); }},
    {"event", kInteger, "the number of the event after it",
     [](const MarkRow& row) { return IntegerOf(row.of.next_number()); }}};

class CounterCursor final : public EventCursor<CounterValue> {
 public:
  using EventCursor::EventCursor;
  void OnCounter(const CounterValue& value) override { Take(value); }
};
using CounterRow = EventRow<CounterValue>;
constexpr ColumnOf<CounterRow> kCounterColumns[] = {
    {"clock_s", kSeconds, "since the run began",
     [](const CounterRow& row) { return SecondsOf(row.of.time_us()); }},
    {"name", kText, "name of the counter",
     [](const CounterRow& row) { return RelationValue(row.of.name()); }},
    {"value", kReal, "as it was given",
     [](const CounterRow& row) {
       return row.of.has_whole() ? RelationValue(int64_t{row.of.whole()})
                                 : RelationValue(row.of.real());
     }},
    {"thread", kText, "name#id",
     [](const CounterRow& row) { return row.Thread(row.of.thread()); }}};

class GcRunCursor final : public EventCursor<GcRun> {
 public:
  using EventCursor::EventCursor;
  void OnGcRun(const GcRun& run) override { Take(run); }
};
using GcRow = EventRow<GcRun>;
constexpr ColumnOf<GcRow> kGcColumns[] = {
    {"clock_s", kSeconds, "when it ended, since the run began",
     [](const GcRow& row) { return SecondsOf(row.of.time_us()); }},
    {"lasted_s", kSeconds, "how long it took",
     [](const GcRow& row) {
       const uint64_t end_us = row.of.time_us();
       return SecondsOf(end_us - std::min(row.of.begin_us(), end_us));
     }},
    {"generation", kInteger, "0, 1 or 2",
     [](const GcRow& row) { return IntegerOf(row.of.generation()); }},
    {"collected", kInteger, "objects that it freed",
     [](const GcRow& row) { return IntegerOf(row.of.collected()); }},
    {"uncollectable", kInteger, "objects that it could not free",
     [](const GcRow& row) { return IntegerOf(row.of.uncollectable()); }},
    {"thread", kText, "name#id",
     [](const GcRow& row) { return row.Thread(row.of.thread()); }},
    {"file", kText, "where the program was",
     [](const GcRow& row) { return row.File(row.of.stack()); }},
    {"line", kInteger, "where the program was",
     [](const GcRow& row) { return row.Line(row.of.stack()); }},
    {"function", kText, "where the program was",
     [](const GcRow& row) { return row.Function(row.of.stack()); }}};

class SampleCursor final : public EventCursor<ProcessSample> {
 public:
  using EventCursor::EventCursor;
  void OnProcess(const ProcessSample& sample) override { Take(sample); }
};
using SampleRow = EventRow<ProcessSample>;
constexpr ColumnOf<SampleRow> kSampleColumns[] = {
    {"clock_s", kSeconds, "since the run began",
     [](const SampleRow& row) { return SecondsOf(row.of.time_us()); }},
    {"rss_bytes", kBytes, "RSS",
     [](const SampleRow& row) { return IntegerOrNot(row.of.rss_bytes()); }},
    {"hwm_bytes", kBytes, "VmHWM, the highest RSS so far",
     [](const SampleRow& row) { return IntegerOrNot(row.of.hwm_bytes()); }},
    {"file_bytes", kBytes, "the part of RSS in files and shared memory",
     [](const SampleRow& row) { return IntegerOrNot(row.of.file_bytes()); }},
    {"pss_bytes", kBytes, "PSS: shared pages count by their shares",
     [](const SampleRow& row) { return IntegerOrNot(row.of.pss_bytes()); }},
    {"user_s", kSeconds, "CPU time in the program",
     [](const SampleRow& row) { return SecondsOf(row.of.user_us()); }},
    {"system_s", kSeconds, "CPU time in the kernel",
     [](const SampleRow& row) { return SecondsOf(row.of.system_us()); }},
    {"minor_faults", kInteger, "page faults so far",
     [](const SampleRow& row) { return IntegerOrNot(row.of.minor_faults()); }},
    {"major_faults", kInteger, "page faults that waited for a disk",
     [](const SampleRow& row) {
       // A process may have no major faults, but has minor ones: without them,
       // faults were not read.
       return row.of.minor_faults() == 0 ? RelationValue()
                                         : IntegerOf(row.of.major_faults());
     }},
    {"descriptors", kInteger, "open files", [](const SampleRow& row) {
       // The file has 1 + their number, see trace.proto.
       return row.of.descriptors() == 0 ? RelationValue()
                                        : IntegerOf(row.of.descriptors() - 1);
     }}};

}  // namespace

std::unique_ptr<Relation> MarksRelation(const RelationRun* run) {
  return MakeEventRelation<MarkCursor>(
      {"marks", "a mark that the program set", kMarkColumns}, run);
}

std::unique_ptr<Relation> CountersRelation(const RelationRun* run) {
  return MakeEventRelation<CounterCursor>(
      {"counters", "a value that the program gave a counter", kCounterColumns},
      run, Recorded::kCounters);
}

std::unique_ptr<Relation> GcRunsRelation(const RelationRun* run) {
  return MakeEventRelation<GcRunCursor>(
      {"gc_runs", "a run of the garbage collector", kGcColumns}, run,
      Recorded::kCounters);
}

std::unique_ptr<Relation> SamplesRelation(const RelationRun* run) {
  return MakeEventRelation<SampleCursor>(
      {"samples", "what the kernel said of the process", kSampleColumns}, run);
}

}  // namespace pymemrun
