#include "readers/replay/counters/counter_tables.h"

#include <algorithm>
#include <string>

#include "readers/run/run_index.h"

namespace pymemrun {
namespace {

double Seconds(uint64_t time_us) { return static_cast<double>(time_us) * 1e-6; }

}  // namespace

Table CounterRows(const std::vector<const CounterSeries*>& series) {
  Table table;
  table.headings = {{"clock_s", "time"},
                    {"counter", "counter", CellLook::kName},
                    {"value", "value"}};
  for (const CounterSeries* one : series) {
    for (const CounterPoint& point : one->points()) {
      table.rows.push_back(
          {Seconds(point.time_us), one->name(), ExactNumber{point.value}});
    }
  }
  table.places = table.rows.size();
  return table;
}

Table GcRunRows(const CounterReplay& replay, uint64_t limit) {
  std::vector<const GcRun*> runs;
  for (const GcRun& run : replay.gc_runs()) runs.push_back(&run);
  std::stable_sort(
      runs.begin(), runs.end(), [](const GcRun* a, const GcRun* b) {
        return a->time_us() - a->begin_us() > b->time_us() - b->begin_us();
      });
  if (limit != 0 && runs.size() > limit) runs.resize(limit);
  Table table;
  table.headings = {{"clock_s", "time"},
                    {"generation", "generation"},
                    {"call_s", "seconds"},
                    {"collected", "collected"},
                    {"line", "line"},
                    {"uncollectable", "uncollectable"},
                    {"file", "file", CellLook::kName},
                    {"thread", "thread", CellLook::kName}};
  const RunIndex& index = replay.index();
  for (const GcRun* run : runs) {
    Cell line, file;
    const uint32_t own = index.OwnStack(run->stack());
    if (own != 0) {
      const SourceLocation where = index.ResolveStack(own);
      line = uint64_t{where.line};
      file = std::string(where.file);
    }
    table.rows.push_back({Seconds(run->begin_us()), uint64_t{run->generation()},
                          Seconds(run->time_us() - run->begin_us()),
                          run->collected(), line, run->uncollectable(), file,
                          std::string(index.LatestThreadLabel(run->thread()))});
  }
  table.places = table.rows.size();
  return table;
}

}  // namespace pymemrun
