#include "readers/states/state_tables.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"

namespace pymemrun {
namespace {

struct StateColumn {
  const char* name;   // as in CSV, with _share and _s behind it
  const char* title;  // as in text
};
// By ThreadState.
constexpr StateColumn kColumns[kThreadStates] = {
    {"running_gil", "with GIL"}, {"running", "runs"},
    {"runnable", "wants CPU"},
    {"gil", "S(GIL)"},           {"lock", "lock"},      {"io", "I/O"},
    {"sleep", "sleep"},          {"page_fault", "fault"}, {"other", "other"}};

double Seconds(uint64_t ns) { return static_cast<double>(ns) / 1e9; }

// Whether it is known how long that thread was in that state.
bool Knows(const StateReplay& replay, const ThreadStates& states,
           size_t state) {
  switch (static_cast<ThreadState>(state)) {
    case ThreadState::kRunsWithGil:
      return replay.has_gil() && !replay.HasLocksAlone();
    case ThreadState::kGil:
      return replay.has_gil();
    case ThreadState::kLock:
    case ThreadState::kIo:
    case ThreadState::kTimer:
    case ThreadState::kPageFault:
      return states.by_switches && !replay.cannot_look();
    default:
      return true;
  }
}

Cell SecondsCell(uint64_t ns, TableFormat format) {
  if (format != TableFormat::kText) return Seconds(ns);
  return absl::StrFormat("%.3f", Seconds(ns));
}

const char* TitleOf(const StateColumn& column, const StateReplay& replay) {
  const bool is_gil =
      &column == &kColumns[static_cast<size_t>(ThreadState::kGil)];
  return is_gil && replay.HasLocksAlone() ? "S(Python)" : column.title;
}

}  // namespace

std::vector<uint32_t> StateThreadsOf(const StateReplay& replay,
                                     ThreadFilter* keep) {
  std::vector<std::pair<uint64_t, uint32_t>> order;
  const std::vector<ThreadStates>& states = replay.states();
  for (uint32_t thread = 0; thread < states.size(); ++thread) {
    if (!states[thread].any || !keep->Keeps(thread)) continue;
    const StateNanos& ns = states[thread].times.ns;
    order.push_back({ns[0] + ns[1], thread});
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) {
    return a.first > b.first;
  });
  std::vector<uint32_t> threads;
  for (const auto& [ran, thread] : order) threads.push_back(thread);
  return threads;
}

Table StateTable(const StateReplay& replay, ThreadFilter* keep, uint64_t limit,
                 TableFormat format) {
  Table table;
  table.headings.push_back({"thread", "thread", CellLook::kKey});
  for (const StateColumn& column : kColumns) {
    table.headings.push_back({std::string(column.name) + "_share",
                              TitleOf(column, replay), CellLook::kShare});
  }
  table.headings.push_back({"total_s", "of s"});
  table.headings.push_back({"preempted", "preempted"});
  table.headings.push_back({"voluntary", "by itself"});
  for (const StateColumn& column : kColumns) {
    table.headings.push_back({std::string(column.name) + "_s",
                              std::string(TitleOf(column, replay)) + " s"});
  }
  for (const uint32_t thread : StateThreadsOf(replay, keep)) {
    if (limit != 0 && table.rows.size() == limit) break;
    const ThreadStates& states = replay.states()[thread];
    const uint64_t total = states.times.total_ns();
    std::vector<Cell> row = {
        std::string(replay.index().LatestThreadLabel(thread))};
    for (size_t i = 0; i < kThreadStates; ++i) {
      const double share = total == 0
                               ? 0
                               : static_cast<double>(states.times.ns[i]) /
                                     static_cast<double>(total);
      row.push_back(Knows(replay, states, i) ? Cell(share) : Cell());
    }
    row.push_back(SecondsCell(total, format));
    row.push_back(states.preempted);
    row.push_back(states.voluntary);
    for (size_t i = 0; i < kThreadStates; ++i) {
      row.push_back(Knows(replay, states, i)
                        ? SecondsCell(states.times.ns[i], format)
                        : Cell());
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace pymemrun
