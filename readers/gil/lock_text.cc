#include "readers/gil/lock_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "readers/gil/gil_sums.h"
#include "readers/gil/gil_tables.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

std::string Millis(uint64_t ns) {
  return absl::StrFormat("%.1f ms", static_cast<double>(ns) / 1e6);
}

// "list.sort at app.py:31 lets go last"; empty: no place is known.
std::string WhoLetsGo(const GilReplay& replay) {
  // Places at which all were stopped are told apart.
  absl::flat_hash_map<GilPlace, uint64_t> stops;
  for (const auto& [key, sums] : replay.stops().sums()) {
    stops[key.second] += sums.stood_ns;
  }
  const auto ns_of = [&](const std::pair<const GilPlace, uint64_t>& place) {
    const auto found = stops.find(place.first);
    return place.second -
           (found == stops.end() ? 0 : std::min(found->second, place.second));
  };
  const auto& places = replay.blocked_by_place();
  const auto most = std::max_element(
      places.begin(), places.end(),
      [&](const auto& a, const auto& b) { return ns_of(a) < ns_of(b); });
  if (most == places.end() || ns_of(*most) == 0) return "";
  return absl::StrCat("; most of that ",
                      TerminalText(GilPlaceText(replay, most->first)),
                      " keeps them");
}

// Of pauses of all threads. Empty: there were none.
std::string StopsText(const GilReplay& replay) {
  const StopSums& all = replay.stops().all();
  if (all.stops == 0) return "";
  const auto& sums = replay.stops().sums();
  const auto most = std::max_element(
      sums.begin(), sums.end(), [](const auto& a, const auto& b) {
        return a.second.paused_ns < b.second.paused_ns;
      });
  const auto& [thread, place] = most->first;
  return absl::StrCat(
      " All threads were stopped ", Counted(all.stops, "time"), ", for ",
      Millis(all.paused_ns), " in all, ", Millis(all.longest_ns), " at most",
      place.stack == 0
          ? absl::StrCat(", mostly by ",
                         TerminalText(replay.index().LatestThreadLabel(thread)))
          : absl::StrCat(", mostly by ",
                         TerminalText(GilPlaceText(replay, place))),
      ".");
}

}  // namespace

std::string LockSentence(const GilReplay& replay, ThreadFilter* keep) {
  const auto [all, waiters] = GilSumsOf(replay, keep);
  if (all.threads == 0) {
    return "This interpreter has no GIL, and no thread waited for its locks.\n";
  }
  const std::string first =
      waiters.threads == 0
          ? absl::StrCat(
                "Nobody is held up by the interpreter's locks (it has no "
                "GIL): ",
                Counted(all.threads,
                        all.threads == 1 ? "thread waits" : "thread",
                        "threads wait"),
                " ", GilPercent(all.Share(all.waited_ns)), " of ",
                all.threads == 1 ? "its" : "their", " time for them.")
          : absl::StrCat(
                WhoIsHeldUp(replay, waiters, "the interpreter's locks"),
                WhoLetsGo(replay), ".");
  return absl::StrCat(first, StopsText(replay), "\n");
}

}  // namespace pymemrun
