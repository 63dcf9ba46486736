#include "readers/heap/heap_reading.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "readers/heap/heap_table.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

void SayBeyondEnd(const HeapReplay& replay, const std::string& shown_name,
                  const Console& console) {
  if (replay.BeyondEndUs() == 0) return;
  console.Say(absl::StrCat(shown_name, ": ", HumanSeconds(replay.BeyondEndUs()),
                           " is after the run's end, ",
                           HumanSeconds(replay.last_us()),
                           ": the end is shown"));
}

}  // namespace

bool ReadHeapAgain(RereadFile* file, const Console& console, HeapReplay* replay,
                   int* code, bool say_beyond_end) {
  const bool read = file->Read(replay);
  *code = std::max(*code, file->code());
  if (!read) *code = std::max(*code, kExitFailed);
  if (!read) return false;
  if (replay->has_heap_events()) {
    if (say_beyond_end) SayBeyondEnd(*replay, file->shown_name(), console);
    return true;
  }
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
  std::string text = HumanSeconds(replay.TimeOf(moment));
  if (replay.moment(moment).kind == HeapMoment::kPeak) text += " (peak)";
  return text;
}

std::string LiveText(const HeapMoments& replay, size_t moment) {
  const HeapSums live = TotalsOf(replay.model(), replay.SumsAt(moment)).live;
  return absl::StrCat("live ", HeapSumsText(live, replay), " at ",
                      MomentText(replay, moment), "\n");
}

}  // namespace pymemrun
