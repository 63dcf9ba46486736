// Limits that a run must keep: `pymemreport diff --fail-if`.
#ifndef PYMEMRUN_READERS_ACROSS_RUNS_DIFF_GATE_H_
#define PYMEMRUN_READERS_ACROSS_RUNS_DIFF_GATE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "readers/across_runs/diff/run_side.h"

namespace pymemrun {

// A parsed limit of --fail-if.
struct Limit {
  std::string text;  // as the user wrote it
  Total total = Total::kPeak;
  bool is_change = false;   // for the change from OLD; false: for NEW's value
  bool is_percent = false;  // in percent of OLD's value
  double most = 0;          // bytes, microseconds, or percent
};

// Parses "peak>+5%", "heap>+1MiB", "time>+0.5s", "peak>512MiB".
absl::StatusOr<Limit> ParseLimit(absl::string_view text);

// The result of judging a run by its limits. No breaches and nothing unknown:
// it passed.
struct Verdict {
  std::vector<std::string> breaches;  // a line each
  std::vector<std::string> unknown;   // limits that cannot be judged, likewise
};
// An estimate breaches a limit only by more than three standard errors. Runs
// that ended differently, or lost events, cannot be judged.
Verdict Judge(const std::vector<Limit>& limits, const RunSide& before,
              const RunSide& after);

// "340.0 MiB", "10.600 s"; `with_sign`: for a change.
std::string FigureText(Total total, double value, bool with_sign = false);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ACROSS_RUNS_DIFF_GATE_H_
