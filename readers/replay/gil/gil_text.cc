#include "readers/replay/gil/gil_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "readers/places/place.h"
#include "readers/places/thread_filter.h"
#include "readers/replay/gil/gil_replay.h"
#include "readers/replay/gil/gil_tables.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

struct GilSums {
  size_t threads = 0;
  uint64_t total_ns = 0, waited_ns = 0, held_ns = 0;

  void Add(const GilThreadTimes& times, uint64_t end_ns) {
    ++threads;
    total_ns += times.TotalNs(end_ns);
    waited_ns += times.waited_ns;
    held_ns += times.held_ns;
  }
  // Share of total_ns; 0 if that is 0.
  double Share(uint64_t ns) const;
};

// The threads that are kept, and those of them that are held up: by no small
// share of their time, nor of the run's. The replay has finished.
struct KeptGilSums {
  GilSums all, waiters;
};

// A thread is held up if it waits for this share of its own time, and for this
// share of the run.
constexpr double kSmallShare = 0.1, kSmallOfRun = 0.01;

double GilSums::Share(uint64_t ns) const {
  return total_ns == 0
             ? 0
             : static_cast<double>(ns) / static_cast<double>(total_ns);
}

KeptGilSums GilSumsOf(const GilReplay& replay, ThreadFilter* keep) {
  KeptGilSums sums;
  for (const uint32_t thread : GilThreadsOf(replay, keep)) {
    const GilThreadTimes& times = replay.threads()[thread];
    const uint64_t total = times.TotalNs(replay.end_ns());
    sums.all.Add(times, replay.end_ns());
    const auto least = std::max(
        kSmallShare * static_cast<double>(std::max<uint64_t>(total, 1)),
        kSmallOfRun * static_cast<double>(replay.long_ns()));
    if (static_cast<double>(times.waited_ns) >= least) {
      sums.waiters.Add(times, replay.end_ns());
    }
  }
  return sums;
}

// "3.1 %", "31 %".
std::string GilPercent(double share) {
  return share < 0.1 ? absl::StrFormat("%.1f %%", 100 * share)
                     : absl::StrFormat("%.0f %%", 100 * share);
}

// Whether no thread did anything in the part of the time that is asked for.
bool IsEmpty(const GilSums& all, const GilReplay& replay) {
  return all.threads == 0 || (replay.range().any() && all.total_ns == 0);
}

// What was read: "the run", or a part of it.
const char* PartText(const GilReplay& replay) {
  return replay.range().any() ? "the range" : "the run";
}

// "12.3 ms".
std::string MillisText(uint64_t ns) {
  return absl::StrFormat("%.1f ms", static_cast<double>(ns) / 1e6);
}

// "12.3 ms", or "none".
std::string LongestGilWait(const GilReplay& replay) {
  return replay.worst().empty() ? "none"
                                : MillisText(replay.worst()[0].wait_ns);
}

// "4 threads wait 61 % of their time for WHAT, 12.3 ms at most".
std::string WhoIsHeldUp(const GilReplay& replay, const GilSums& waiters,
                        const char* what) {
  const bool is_one = waiters.threads == 1;
  return absl::StrCat(
      Counted(waiters.threads, is_one ? "thread waits" : "thread",
              "threads wait"),
      " ", GilPercent(waiters.Share(waiters.waited_ns)), " of ",
      is_one ? "its" : "their", " time for ", what, ", ",
      LongestGilWait(replay), " at most");
}

// "list.sort at app.py:31 lets go last"; empty: no place is known.
std::string WhoLetsGo(const GilReplay& replay) {
  // StopsText() reports pauses of all threads, so their time is subtracted
  // here.
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
  return absl::StrCat("; for most of that time ",
                      TerminalText(GilPlaceText(replay, most->first)),
                      " holds them");
}

// The pauses of all threads. Empty: there were none.
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
      MillisText(all.paused_ns), " in all, ", MillisText(all.longest_ns),
      " at most",
      place.stack == 0
          ? absl::StrCat(", mostly by ",
                         TerminalText(replay.index().LatestThreadLabel(thread)))
          : absl::StrCat(", mostly by ",
                         TerminalText(GilPlaceText(replay, place))),
      ".");
}

// Whether threads wait for the interpreter's locks, and for whom; how long all
// stood still. The replay has finished.
std::string LockSentence(const GilReplay& replay, ThreadFilter* keep) {
  const auto [all, waiters] = GilSumsOf(replay, keep);
  if (IsEmpty(all, replay)) {
    return absl::StrCat(
        "This interpreter has no GIL, and no thread waited for its locks",
        replay.range().any() ? " in the range" : "", ".\n");
  }
  const std::string first =
      waiters.threads == 0
          ? absl::StrCat(
                "The interpreter's locks (it has no GIL) delay no thread: ",
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

// Frames of a stack that are printed in one line.
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
                        " holds it longest during these waits");
  }
  absl::flat_hash_map<uint32_t, uint64_t> holders;
  for (const auto& [pair, ns] : replay.blocked_ns()) {
    if (pair.second != GilReplay::kHandover &&
        pair.second != GilReplay::kForgotten) {
      holders[pair.second] += ns;
    }
  }
  const auto holder = std::max_element(holders.begin(), holders.end(), less);
  if (holder == holders.end())
    return "it is being handed over during these waits";
  return absl::StrCat(NameOf(replay, holder->first),
                      " holds it longest during these waits");
}

// The share of the time from the first event to the end, summed over all GILs.
double HeldOfPart(const GilReplay& replay) {
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
                 ? "waited for all other threads to stop, for"
                 : "was stopped for";
    default:
      return "waited";
  }
}

std::string HolderText(const GilReplay& replay, const GilWait& wait) {
  const bool is_known = wait.holder != GilReplay::kHandover;
  const std::string who = is_known ? NameOf(replay, wait.holder) : "";
  switch (wait.kind) {
    case GilWaitKind::kLock:
      return is_known ? absl::StrCat(", released by ", who) : "";
    case GilWaitKind::kStop:
      return is_known ? absl::StrCat(", by ", who) : "";
    default:
      return is_known ? absl::StrCat(" for ", who) : ", no thread held it";
  }
}

}  // namespace

bool HasNoGilTimes(const GilReplay& replay, ThreadFilter* keep) {
  return IsEmpty(GilSumsOf(replay, keep).all, replay);
}

// One of four answers: locks instead of a GIL, a single thread, no thread held
// up, or the threads that are.
std::string GilSentence(const GilReplay& replay, ThreadFilter* keep) {
  if (replay.HasLocksAlone()) return LockSentence(replay, keep);
  const auto [all, waiters] = GilSumsOf(replay, keep);
  if (IsEmpty(all, replay)) {
    return absl::StrCat("No thread took the GIL in ",
                        replay.range().any() ? "the range" : "what was read",
                        ".\n");
  }
  const std::string rest =
      absl::StrCat("It is held ", GilPercent(HeldOfPart(replay)), " of ",
                   PartText(replay), ".\n");
  if (all.threads == 1 && waiters.threads == 0) {
    return absl::StrCat("One thread ran Python: no thread waits for the GIL. ",
                        rest);
  }
  if (waiters.threads == 0) {
    const uint64_t without = all.total_ns - all.held_ns - all.waited_ns;
    return absl::StrCat("The GIL delays no thread: ", all.threads,
                        " threads wait ", GilPercent(all.Share(all.waited_ns)),
                        " of their time for it, ", LongestGilWait(replay),
                        " at most, and do not need it ",
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
        absl::StrFormat("%d. %s %s %s at %.3f s", number,
                        NameOf(replay, wait.thread), VerbOf(wait),
                        MillisText(wait.wait_ns),
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
                    " interpreters have a GIL each: a thread's times are "
                    "summed over them.\n");
  }
  if (replay.lost() > 0) {
    absl::StrAppend(&text, Counted(replay.lost(), "GIL event"),
                    " lost: times around them are not exact.\n");
  }
  return text;
}

}  // namespace pymemrun
