#include "readers/states/state_tables.h"

#include <algorithm>
#include <utility>

#include "readers/output/cells.h"
#include "readers/output/table_columns.h"

namespace pymemrun {
namespace {

struct StateColumn {
  const char* name;   // as in CSV, with _share and _s behind it
  const char* title;  // as in text
};
// By ThreadState.
constexpr StateColumn kColumns[kThreadStates] = {{"running_gil", "with GIL"},
                                                 {"running", "runs"},
                                                 {"runnable", "wants CPU"},
                                                 {"gil", "S(GIL)"},
                                                 {"lock", "lock"},
                                                 {"io", "I/O"},
                                                 {"sleep", "sleep"},
                                                 {"page_fault", "fault"},
                                                 {"other", "other"}};

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
  std::stable_sort(
      order.begin(), order.end(),
      [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<uint32_t> threads;
  for (const auto& [ran, thread] : order) threads.push_back(thread);
  return threads;
}

Table StateTable(const StateReplay& replay, ThreadFilter* keep, uint64_t limit,
                 TableFormat format) {
  TableColumns<uint32_t> columns;
  const auto states = [&replay](uint32_t thread) -> const ThreadStates& {
    return replay.states()[thread];
  };
  columns.Add("thread", "thread", CellLook::kKey, [&replay](uint32_t of) {
    return std::string(replay.index().LatestThreadLabel(of));
  });
  for (size_t i = 0; i < kThreadStates; ++i) {
    columns.Add(std::string(kColumns[i].name) + "_share",
                TitleOf(kColumns[i], replay), CellLook::kShare,
                [=, &replay](uint32_t of) {
                  const auto& times = states(of).times;
                  return Knows(replay, states(of), i)
                             ? Cell(ShareOf(times.ns[i], times.total_ns()))
                             : Cell();
                });
  }
  columns.Add("total_s", "of s", [=](uint32_t of) {
    return SecondsCell(states(of).times.total_ns(), format);
  });
  columns.Add("preempted", "preempted",
              [=](uint32_t of) { return states(of).preempted; });
  columns.Add("voluntary", "by itself",
              [=](uint32_t of) { return states(of).voluntary; });
  for (size_t i = 0; i < kThreadStates; ++i) {
    columns.Add(std::string(kColumns[i].name) + "_s",
                std::string(TitleOf(kColumns[i], replay)) + " s",
                [=, &replay](uint32_t of) {
                  return Knows(replay, states(of), i)
                             ? SecondsCell(states(of).times.ns[i], format)
                             : Cell();
                });
  }
  Table table = columns.Make(StateThreadsOf(replay, keep), limit);
  table.places = 0;
  return table;
}

}  // namespace pymemrun
