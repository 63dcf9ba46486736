#include "readers/gil/gil_text.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "readers/gil/gil_sums.h"
#include "readers/gil/gil_tables.h"
#include "readers/gil/lock_text.h"
#include "readers/places/place.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

constexpr size_t kMostFrames = 5;

std::string NameOf(const GilReplay& replay, uint32_t thread) {
  return TerminalText(replay.index().LatestThreadLabel(thread));
}

// "json.loads at app.py:31 holds it longest", or the thread that does.
std::string WhoHolds(const GilReplay& replay) {
  const auto less = [](const auto& a, const auto& b) {
    return a.second < b.second;
  };
  const auto& places = replay.blocked_by_place();
  const auto place = std::max_element(places.begin(), places.end(), less);
  if (place != places.end()) {
    return absl::StrCat(TerminalText(GilPlaceText(replay, place->first)),
                        " holds it longest meanwhile");
  }
  absl::flat_hash_map<uint32_t, uint64_t> holders;
  for (const auto& [pair, ns] : replay.blocked_ns()) {
    if (pair.second != GilReplay::kHandover &&
        pair.second != GilReplay::kForgotten) {
      holders[pair.second] += ns;
    }
  }
  const auto holder = std::max_element(holders.begin(), holders.end(), less);
  if (holder == holders.end()) return "it is being handed over meanwhile";
  return absl::StrCat(NameOf(replay, holder->first),
                      " holds it longest meanwhile");
}

// From the first event to the end.
double HeldOfRun(const GilReplay& replay) {
  GilSums all;
  uint64_t begin_ns = replay.end_ns();
  for (const GilThreadTimes& times : replay.threads()) {
    if (!times.any) continue;
    all.Add(times, replay.end_ns());
    begin_ns = std::min(begin_ns, times.first_ns);
  }
  all.total_ns =
      (replay.end_ns() - begin_ns) * std::max<uint64_t>(1, replay.gils());
  return std::min(1.0, all.Share(all.held_ns));
}

// "app.py:20 work < app.py:31 main", the innermost frame first.
std::string StackLine(const GilReplay& replay, uint32_t stack) {
  if (stack == 0) return "not recorded";
  std::string text;
  size_t frames = 0;
  for (; stack != 0; stack = replay.index().ParentStack(stack)) {
    if (frames++ == kMostFrames) return absl::StrCat(text, " < ...");
    Place place =
        PlaceOf(GroupBy::kLibraryLine, replay.index().ResolveStack(stack));
    place.file = place.file.substr(place.file.rfind('/') + 1);
    absl::StrAppend(&text, text.empty() ? "" : " < ",
                    TerminalText(LabelOf(place)));
  }
  return text;
}

const char* VerbOf(const GilWait& wait) {
  switch (wait.kind) {
    case GilWaitKind::kLock:
      return "waited for a lock for";
    case GilWaitKind::kStop:
      return wait.holder == GilReplay::kHandover
                 ? "waited until all others stood still for"
                 : "stood still for";
    default:
      return "waited";
  }
}

std::string HolderText(const GilReplay& replay, const GilWait& wait) {
  const bool is_known = wait.holder != GilReplay::kHandover;
  const std::string who = is_known ? NameOf(replay, wait.holder) : "";
  switch (wait.kind) {
    case GilWaitKind::kLock:
      return is_known ? absl::StrCat(", let go by ", who) : "";
    case GilWaitKind::kStop:
      return is_known ? absl::StrCat(", stopped by ", who) : "";
    default:
      return is_known ? absl::StrCat(" for ", who) : ", nobody held it";
  }
}

}  // namespace

std::string GilSentence(const GilReplay& replay, ThreadFilter* keep) {
  if (replay.HasLocksAlone()) return LockSentence(replay, keep);
  const auto [all, waiters] = GilSumsOf(replay, keep);
  if (all.threads == 0) return "No thread took the GIL in what was read.\n";
  const std::string rest = absl::StrCat(
      "It is held ", GilPercent(HeldOfRun(replay)), " of the run.\n");
  if (all.threads == 1 && waiters.threads == 0) {
    return absl::StrCat("One thread ran Python: nobody waits for the GIL. ",
                        rest);
  }
  if (waiters.threads == 0) {
    const uint64_t without = all.total_ns - all.held_ns - all.waited_ns;
    return absl::StrCat("Nobody is held up by the GIL: ", all.threads,
                        " threads wait ", GilPercent(all.Share(all.waited_ns)),
                        " of their time for it, ", LongestGilWait(replay),
                        " at most, and are without it ",
                        GilPercent(all.Share(without)), ". ", rest);
  }
  return absl::StrCat(WhoIsHeldUp(replay, waiters, "the GIL"), "; ",
                      WhoHolds(replay), ". ", rest);
}

std::string GilWaitsText(const GilReplay& replay, ThreadFilter* keep,
                         size_t limit) {
  std::string text;
  size_t number = 0;
  for (const GilWait& wait : replay.worst()) {
    if (!keep->Keeps(wait.thread)) continue;
    if (number++ == limit) break;
    const std::string calls = GilCallText(replay, wait.holder_place);
    absl::StrAppend(
        &text,
        absl::StrFormat("%d. %s %s %.1f ms at %.3f s", number,
                        NameOf(replay, wait.thread), VerbOf(wait),
                        static_cast<double>(wait.wait_ns) / 1e6,
                        static_cast<double>(wait.begin_ns) / 1e9),
        HolderText(replay, wait), "\nwaiter: ", StackLine(replay, wait.stack),
        "\nholder: ", StackLine(replay, wait.holder_place.stack),
        calls.empty() ? "" : absl::StrCat(" in ", TerminalText(calls)), "\n");
  }
  return text;
}

std::string GilNotes(const GilReplay& replay) {
  std::string text;
  if (replay.gils() > 1) {
    absl::StrAppend(&text, replay.gils(),
                    " interpreters have a GIL each: a thread's times are the "
                    "sums.\n");
  }
  if (replay.lost() > 0) {
    absl::StrAppend(&text, Counted(replay.lost(), "GIL event"),
                    " found no room: times around them are not exact.\n");
  }
  return text;
}

}  // namespace pymemrun
