#include "readers/replay/heap/heap_reading.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "readers/replay/heap/heap_table.h"
#include "readers/replay/heap/heap_totals.h"
#include "text/report_text.h"

namespace pymemrun {

// Has() prints why there is nothing to report.
bool ReadHeapAgain(RereadFile* file, const Console& console, HeapReplay* replay,
                   int* code) {
  const bool read = file->Read(replay);
  *code = std::max(*code, file->code());
  if (!read) *code = std::max(*code, kExitFailed);
  if (!read) return false;
  if (file->Has(Recorded::kHeap)) return true;
  *code = file->code();
  return false;
}

bool ReadHeap(const std::string& path, const Console& console,
              HeapReplay* replay, int* code) {
  const auto file = RereadFile::Open(path, console);
  if (file != nullptr) return ReadHeapAgain(file.get(), console, replay, code);
  *code = std::max(*code, kExitFailed);
  return false;
}

// A run may have millions of tasks, so only the names that a report shows are
// read.
bool ReadTaskNames(const HeapModel& model, TaskStepsReader* steps) {
  absl::flat_hash_set<uint32_t> tasks;
  for (const HeapSource& source : model.sources()) {
    tasks.insert(source.key.task);
  }
  return steps->ReadNames(std::move(tasks));
}

std::string MomentText(const HeapMoments& replay, size_t moment) {
  const HeapMoment& at = replay.moment(moment);
  absl::string_view name = at.name;
  if (name.empty() && at.kind == HeapMoment::kPeak) {
    name = "the peak of live bytes";
  }
  return absl::StrCat(name, name.empty() ? "" : ", ",
                      HumanSeconds(replay.TimeOf(moment)));
}

std::string LiveText(const HeapMoments& replay, size_t moment) {
  const HeapSums live = TotalsOf(replay.model(), replay.SumsAt(moment)).live;
  return absl::StrCat("live ", HeapSumsText(live, replay), " at ",
                      MomentText(replay, moment), "\n");
}

// Two moments of one microsecond count as one here.
std::string PeakText(const HeapMoments& replay) {
  const uint64_t peak_us = replay.model().peak_us();
  if (replay.TimeOf(0) == peak_us) return "";
  return absl::StrCat(
      "most live bytes: ", HumanBytes(replay.model().peak_bytes()), " at ",
      HumanSeconds(peak_us), " (--at heap-peak)\n");
}

std::string LeaksText(const HeapMoments& replay,
                      const std::function<bool(const HeapSource&)>& keep) {
  const std::vector<HeapSums> sums = replay.SumsAt(0);
  HeapSums leaked;
  for (size_t i = 0; i < sums.size(); ++i) {
    const HeapSource& source = replay.model().sources()[i];
    if (source.counts() && keep(source)) leaked.Add(sums[i]);
  }
  const absl::string_view end = replay.moment(0).name;
  return absl::StrCat("alive at ", end, ": ", HeapSumsText(leaked, replay),
                      ", without what the interpreter keeps for itself\n",
                      LiveText(replay, 0), PeakText(replay));
}

std::string ThreadText(const HeapMoments& replay, ThreadFilter* threads) {
  if (!threads->any()) return "";
  const std::vector<HeapSums> sums = replay.SumsAt(0);
  HeapSums kept;
  for (size_t i = 0; i < sums.size(); ++i) {
    const HeapSource& source = replay.model().sources()[i];
    if (source.counts() && threads->Keeps(source.key.thread)) kept.Add(sums[i]);
  }
  return absl::StrCat("allocated by ", threads->Label(), ": ",
                      HumanBytes(kept.bytes), " of these\n");
}

std::string MeaningText(const HeapMoments& replay) {
  const Header& header = replay.header();
  const bool has_pages = header.page_period() != 0 || header.page_scan();
  return absl::StrCat("bytes are what lines asked for",
                      has_pages
                          ? "; pymemreport resident shows what took up RSS\n"
                          : ", resident or not\n");
}

// Programs always have some memory beyond the blocks. More than this, and more
// than half of RSS, is worth a line.
std::string RestText(const HeapMoments& replay) {
  constexpr double kMuch = 64 << 20;
  if (replay.header().heap_native()) return "";
  const auto rss = static_cast<double>(replay.RssNear(replay.TimeOf(0)));
  const HeapTotals totals = TotalsOf(replay.model(), replay.SumsAt(0));
  const double known = totals.live.bytes + totals.tracing.bytes +
                       static_cast<double>(replay.header().own_bytes());
  const double rest = rss - known;
  if (rest <= kMuch || rest <= rss / 2) return "";
  return absl::StrCat(
      "RSS was ", HumanBytes(rss), ", ", HumanBytes(rest),
      " beyond these: C code's own memory was not recorded; pymemreport "
      "timeline --by heap shows the rest\n");
}

}  // namespace pymemrun
