#include "readers/heap/heap_reading.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "readers/heap/heap_table.h"
#include "text/report_text.h"

namespace pymemrun {
bool ReadHeapAgain(RereadFile* file, const Console& console, HeapReplay* replay,
                   int* code) {
  const bool read = file->Read(replay);
  *code = std::max(*code, file->code());
  if (!read) *code = std::max(*code, kExitFailed);
  if (!read) return false;
  if (replay->has_heap_events()) return true;
  console.Say(absl::StrCat(
      file->shown_name(),
      file->whole()
          ? ": has no heap events: the run was made with --heap off or stats"
          : ": no heap events in what could be read"));
  if (file->whole()) *code = kExitUsage;
  return false;
}

bool ReadHeap(const std::string& path, const Console& console,
              HeapReplay* replay, int* code) {
  const auto file = RereadFile::Open(path, console);
  if (file != nullptr) return ReadHeapAgain(file.get(), console, replay, code);
  *code = std::max(*code, kExitFailed);
  return false;
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

std::string PeakText(const HeapMoments& replay) {
  const uint64_t peak_us = replay.model().peak_us();
  if (replay.TimeOf(0) == peak_us) return "";
  return absl::StrCat(
      "most live bytes: ", HumanBytes(replay.model().peak_bytes()), " at ",
      HumanSeconds(peak_us), " (--at heap-peak)\n");
}

}  // namespace pymemrun
