#include "readers/across_runs/diff/unlike_runs.h"

#include "absl/strings/str_cat.h"
#include "readers/replay/summary/run_facts.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

// How the ends differ. Two runs that failed alike can be compared.
std::string Ends(const RunSide& before, const RunSide& after) {
  if (!after.facts().footer.has_value()) return "NEW has no end";
  if (!before.facts().footer.has_value()) return "OLD has no end";
  const std::string old_end = EndText(before.facts()),
                    new_end = EndText(after.facts());
  if (old_end == new_end) return "";
  return absl::StrCat("OLD ended with ", old_end, ", NEW with ", new_end);
}

std::string LostText(absl::string_view name, const RunSide& run) {
  const uint64_t lost = run.facts().Heap().lost;
  if (lost == 0) return "";
  return absl::StrCat(name, " lost ", Counted(lost, "heap event"));
}

}  // namespace

std::string WhyUnlike(const RunSide& before, const RunSide& after,
                      Total total) {
  const std::string ends = Ends(before, after);
  if (!ends.empty()) return ends;
  // Other totals come from the kernel's counters, which no lost event changes.
  if (total != Total::kHeap && total != Total::kHeapEnd) return "";
  const std::string lost = LostText("NEW", after);
  return lost.empty() ? LostText("OLD", before) : lost;
}

std::vector<std::string> UnlikeRuns(const RunSide& before,
                                    const RunSide& after) {
  std::vector<std::string> notes;
  const std::string ends = Ends(before, after);
  if (!ends.empty()) {
    notes.push_back(absl::StrCat(ends, ": one run may have stopped earlier."));
  }
  for (const auto& [name, run] : {std::pair{"OLD", &before}, {"NEW", &after}}) {
    const std::string lost = LostText(name, *run);
    if (!lost.empty()) {
      notes.push_back(absl::StrCat(lost, ": its live bytes are wrong."));
    }
  }
  // The texts list the kinds of events that places come from.
  const auto recorded = [](const RunSide& run) {
    return RecordedText(run.facts(), run.facts().HasPages());
  };
  const std::string old_kinds = recorded(before), new_kinds = recorded(after);
  if (old_kinds != new_kinds) {
    notes.push_back(
        absl::StrCat("OLD recorded ", old_kinds, ", NEW ", new_kinds,
                     ": places may be new or gone only because of that."));
  }
  return notes;
}

}  // namespace pymemrun
