#include "readers/resident/find_peak.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace pymemrun {

std::unique_ptr<PeakFinder> FindPeak(RereadFile* file) {
  auto finder = std::make_unique<PeakFinder>();
  if (!file->Read(finder.get())) return nullptr;
  Hindsight hindsight;
  hindsight.late = finder->hindsight().late;
  if (hindsight.late.empty()) return finder;
  finder = std::make_unique<PeakFinder>(std::move(hindsight));
  return file->Read(finder.get()) ? std::move(finder) : nullptr;
}

bool SayNoPageEvents(const ResidentReplay& replay, const RereadFile& file,
                     const Console& console) {
  if (replay.has_page_events()) return false;
  const bool whole = file.whole();
  console.Say(absl::StrCat(
      file.shown_name(),
      whole ? ": has no page events: the run was not made with --trace pages"
            : ": no page events in what could be read"));
  return true;
}

}  // namespace pymemrun
