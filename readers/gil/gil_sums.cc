#include "readers/gil/gil_sums.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "readers/gil/gil_tables.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

// Who waits for less of its time is not held up, nor who waits for less than
// that of the run.
constexpr double kSmallShare = 0.1, kSmallOfRun = 0.01;

}  // namespace

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

std::string GilPercent(double share) {
  return share < 0.1 ? absl::StrFormat("%.1f %%", 100 * share)
                     : absl::StrFormat("%.0f %%", 100 * share);
}

std::string LongestGilWait(const GilReplay& replay) {
  if (replay.worst().empty()) return "none";
  return absl::StrFormat("%.1f ms",
                         static_cast<double>(replay.worst()[0].wait_ns) / 1e6);
}

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

}  // namespace pymemrun
