#include "readers/heap_mapped.h"

#include <numeric>

#include "absl/strings/str_cat.h"
#include "format/report_text.h"
#include "readers/heap_pages.h"
#include "readers/resident_replay.h"
#include "readers/whole_number.h"

namespace pymemrun {

std::optional<std::vector<double>> ReadMappedResident(const HeapMoments& replay,
                                                      RereadFile* file) {
  const HeapSums reserved = SumUpReserved(replay.model(), replay.SumsAt(0));
  if (reserved.recorded == 0) return std::nullopt;
  const uint64_t at_us = replay.TimeOf(0);
  ResidentReplay pages(at_us);
  if (!file->Read(&pages) || !pages.has_page_events()) return std::nullopt;
  // With what is mapped at that moment. Its sources have the same numbers.
  HeapMoments heap({{HeapMoment::kTime, at_us}});
  if (!file->Read(&heap)) return std::nullopt;
  std::vector<double> bytes =
      ChargePages(pages.model(), heap.model()).by_source;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (!heap.model().sources()[i].reserved) bytes[i] = 0;
  }
  return bytes;
}

std::string MappedText(const HeapMoments& replay,
                       const std::optional<std::vector<double>>& resident) {
  const HeapSums reserved = SumUpReserved(replay.model(), replay.SumsAt(0));
  if (reserved.recorded == 0) return "";
  const std::string size =
      absl::StrCat(HumanBytes(reserved.bytes), " in ",
                   Counted(WholeNumber(reserved.count), "mapping"));
  if (!resident.has_value()) {
    return absl::StrCat("reserved, not known to be touched: ", size, "\n");
  }
  return absl::StrCat(
      "mapped by C code: ",
      HumanBytes(std::accumulate(resident->begin(), resident->end(), 0.0)),
      " resident of ", size, "\n");
}

}  // namespace pymemrun
