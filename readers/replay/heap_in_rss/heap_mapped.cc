#include "readers/replay/heap_in_rss/heap_mapped.h"

#include <memory>
#include <numeric>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "readers/output/whole_number.h"
#include "readers/replay/heap/heap_totals.h"
#include "readers/replay/heap_in_rss/heap_pages.h"
#include "readers/replay/resident/find_peak.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

// The moment that the replay shows. A peak, which is known only at the end of
// the file, becomes a time.
HeapMoment MomentOf(const HeapMoments& replay) {
  const HeapMoment& moment = replay.moment(0);
  // A time is not enough: several events may have the same microsecond.
  if (moment.kind == HeapMoment::kEvents) return moment;
  return {HeapMoment::kTime, replay.TimeOf(0)};
}

// "2.0 MiB in 1 mapping"; empty if nothing is mapped.
std::string SizeText(const HeapMoments& replay) {
  const HeapSums reserved = TotalsOf(replay.model(), replay.SumsAt(0)).reserved;
  if (reserved.recorded == 0) return "";
  return absl::StrCat(HumanBytes(reserved.bytes), " in ",
                      Counted(WholeNumber(reserved.count), "mapping"));
}

}  // namespace

// `replay` may have read on to the run's end. So a second replay stops at the
// moment. Its sources are matched by key, as their numbers may differ.
std::optional<std::vector<double>> ReadMappedResident(const HeapMoments& replay,
                                                      RereadFile* file) {
  const HeapSums reserved = TotalsOf(replay.model(), replay.SumsAt(0)).reserved;
  if (reserved.recorded == 0) return std::nullopt;
  const std::unique_ptr<PeakFinder> finder = FindPeak(file);
  if (finder == nullptr || !finder->has_page_events()) return std::nullopt;
  ResidentReplay pages(replay.TimeOf(0), finder->hindsight());
  if (!file->Read(&pages)) return std::nullopt;
  // Includes what is mapped at that moment.
  HeapMoments heap({MomentOf(replay)});
  heap.TellTasksApartAs(replay);
  if (!file->Read(&heap)) return std::nullopt;
  const std::vector<double> charged =
      ChargePages(pages.model(), heap.model(), nullptr, /*of_mappers=*/true)
          .by_source;
  const std::vector<HeapSource>& sources = replay.model().sources();
  absl::flat_hash_map<HeapSource::Key, size_t> numbers;
  for (size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].reserved) numbers.emplace(sources[i].key, i);
  }
  // A file that is still being written may have grown.
  std::vector<double> bytes(sources.size());
  for (size_t i = 0; i < charged.size(); ++i) {
    const auto found = numbers.find(heap.model().sources()[i].key);
    if (found != numbers.end()) bytes[found->second] += charged[i];
  }
  return bytes;
}

std::string MappedText(const HeapMoments& replay,
                       const std::optional<std::vector<double>>& resident) {
  const std::string size = SizeText(replay);
  if (size.empty()) return "";
  if (!resident.has_value()) {
    return absl::StrCat("reserved, not known to be touched: ", size, "\n");
  }
  return absl::StrCat(
      "mapped by C code: ",
      HumanBytes(std::accumulate(resident->begin(), resident->end(), 0.0)),
      " resident of ", size, "\n");
}

std::string ReservedText(const HeapMoments& replay) {
  const std::string size = SizeText(replay);
  if (size.empty()) return "";
  return absl::StrCat("reserved by C code: ", size,
                      "; the stacks here do not include it\n");
}

}  // namespace pymemrun
