#include "readers/replay/states/state_tables.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "readers/output/cells.h"
#include "readers/output/table_columns.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

struct StateColumn {
  const char* name;   // as in CSV, with _share and _s behind it
  const char* title;  // as in text
};
// By ThreadState.
constexpr StateColumn kStateColumns[kThreadStates] = {
    {"running_gil", "with GIL"},
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
      &column == &kStateColumns[static_cast<size_t>(ThreadState::kGil)];
  return is_gil && replay.HasLocksAlone() ? "S(Python)" : column.title;
}

// Less of the time is not worth a word.
constexpr double kShareWorthSaying = 0.005;
constexpr size_t kOthersNamed = 4;

std::string Percent(double share) {
  return share < 0.1 ? absl::StrFormat("%.1f %%", 100 * share)
                     : absl::StrFormat("%.0f %%", 100 * share);
}

constexpr struct {
  ThreadState state;
  const char* words;
} kWords[] = {{ThreadState::kRunnable, "wanted a CPU for "},
              {ThreadState::kGil, "waited for the GIL "},
              {ThreadState::kLock, "waited for locks "},
              {ThreadState::kIo, "waited for I/O "},
              {ThreadState::kTimer, "slept a set time "},
              {ThreadState::kPageFault, "waited for pages "},
              {ThreadState::kOther, "slept otherwise "}};

// Codes of other sleeps are the replay's, so they are the same for all threads.
ThreadTimes SumOf(const StateReplay& replay,
                  const std::vector<uint32_t>& threads) {
  ThreadTimes sums;
  for (const uint32_t thread : threads) {
    const ThreadTimes& times = replay.states()[thread].times;
    for (size_t i = 0; i < kThreadStates; ++i) sums.ns[i] += times.ns[i];
    sums.other_ns.resize(std::max(sums.other_ns.size(), times.other_ns.size()));
    for (size_t i = 0; i < times.other_ns.size(); ++i) {
      sums.other_ns[i] += times.other_ns[i];
    }
  }
  return sums;
}

// "wait4 1.20 s, pause 0.31 s": what the sleeps were that have no column.
std::string OthersText(const StateReplay& replay,
                       const std::vector<uint64_t>& ns) {
  std::vector<std::pair<uint64_t, size_t>> order;
  for (size_t i = 1; i < ns.size(); ++i) {
    // Less than 10 ms would be printed as 0.00 s or 0.01 s.
    if (ns[i] >= 10000000) order.push_back({ns[i], i});
  }
  std::sort(order.rbegin(), order.rend());
  order.resize(std::min(order.size(), kOthersNamed));
  std::string text;
  for (const auto& [time_ns, i] : order) {
    absl::StrAppend(
        &text, text.empty() ? "" : ", ", TerminalText(replay.OtherName(i)),
        absl::StrFormat(" %.2f s", static_cast<double>(time_ns) / 1e9));
  }
  return text;
}

}  // namespace

// The threads that used most CPU time come first. States 0 and 1 are those on a
// CPU, with and without the GIL.
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

// All shares come before all seconds: text shows as many columns as fit.
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
    columns.Add(std::string(kStateColumns[i].name) + "_share",
                TitleOf(kStateColumns[i], replay), CellLook::kShare,
                [=, &replay](uint32_t of) {
                  const auto& times = states(of).times;
                  return Knows(replay, states(of), i)
                             ? Cell(ShareOf(times.ns[i], times.total_ns()))
                             : Cell();
                });
  }
  columns.Add("total_s", "total s", [=](uint32_t of) {
    return SecondsCell(states(of).times.total_ns(), format);
  });
  columns.Add("preempted", "preempted",
              [=](uint32_t of) { return states(of).preempted; });
  columns.Add("voluntary", "by itself",
              [=](uint32_t of) { return states(of).voluntary; });
  for (size_t i = 0; i < kThreadStates; ++i) {
    columns.Add(std::string(kStateColumns[i].name) + "_s",
                std::string(TitleOf(kStateColumns[i], replay)) + " s",
                [=, &replay](uint32_t of) {
                  return Knows(replay, states(of), i)
                             ? SecondsCell(states(of).times.ns[i], format)
                             : Cell();
                });
  }
  return columns.Make(StateThreadsOf(replay, keep), limit);
}

// Shares are of all threads' lives together. States that took hardly any time
// are left out.
std::string StateSentence(const StateReplay& replay, ThreadFilter* keep) {
  const std::vector<uint32_t> threads = StateThreadsOf(replay, keep);
  const ThreadTimes sums = SumOf(replay, threads);
  const StateNanos& ns = sums.ns;
  const uint64_t total = sums.total_ns();
  const auto share = [&](uint64_t part) {
    return total == 0 ? 0
                      : static_cast<double>(part) / static_cast<double>(total);
  };
  const uint64_t ran = ns[NumberOf(ThreadState::kRunsWithGil)] +
                       ns[NumberOf(ThreadState::kRuns)];
  std::string text = absl::StrCat(Counted(threads.size(), "thread"), ": ran ",
                                  Percent(share(ran)), " of the time");
  if (replay.has_gil() && !replay.HasLocksAlone()) {
    absl::StrAppend(&text, " (",
                    Percent(share(ns[NumberOf(ThreadState::kRunsWithGil)])),
                    " with the GIL)");
  }
  for (const auto& [state, words] : kWords) {
    const double part = share(ns[NumberOf(state)]);
    if (part < kShareWorthSaying) continue;
    const bool is_python = state == ThreadState::kGil && replay.HasLocksAlone();
    absl::StrAppend(&text, ", ",
                    is_python ? "waited for the interpreter " : words,
                    Percent(part));
  }
  absl::StrAppend(&text, ".\n");
  const std::string named = OthersText(replay, sums.other_ns);
  if (!named.empty()) absl::StrAppend(&text, "Slept in: ", named, ".\n");
  return text;
}

std::string StateNotes(const StateReplay& replay) {
  std::string text;
  if (!replay.has_switches()) {
    absl::StrAppend(
        &text,
        "From schedstat, every 100 ms: the reason for a sleep is not known (",
        TerminalText(replay.reason()), ").\n");
  }
  if (replay.cannot_look()) {
    absl::StrAppend(&text,
                    "pymemrun may not see why this program sleeps: other "
                    "includes all sleeps except those for the GIL.\n");
  }
  if (!replay.has_gil()) {
    absl::StrAppend(&text,
                    "Waits for the GIL count as lock, short waits as other; "
                    "--trace gil,states separates them.\n");
  }
  if (replay.lost() > 0) {
    absl::StrAppend(
        &text, Counted(replay.lost(), "context switch", "context switches"),
        " lost: times are not exact.\n");
  }
  return text;
}

}  // namespace pymemrun
