#include "readers/answer/answer.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "readers/heap/heap_exit.h"
#include "readers/moments/moment_reading.h"
#include "readers/resident/find_peak.h"

namespace pymemrun {
namespace {

bool ReadMoment(RereadFile* file, uint64_t at_us, const Answer& answer,
                const PeakFinder& finder, AnswerMoment* moment) {
  const bool is_peak = moment == &answer.peak;
  Hindsight hindsight = finder.hindsight();
  // At that moment itself RSS was as it was read.
  if (!is_peak) hindsight.peak_rss_bytes = 0;
  moment->pages = std::make_unique<ResidentReplay>(at_us, std::move(hindsight));
  if (!file->Read(moment->pages.get())) return false;
  const bool to_end = at_us == ResidentReplay::kEnd;
  if (answer.facts.HasHeap()) {
    HeapMoment at = {to_end ? HeapMoment::kEnd : HeapMoment::kTime, at_us};
    at.waits = answer.hindsight.waits;
    moment->heap =
        std::make_unique<HeapMoments>(std::vector<HeapMoment>{std::move(at)});
    moment->heap->BeginWithNothing();
    if (!file->Read(moment->heap.get())) return false;
  }
  moment->time_us =
      to_end ? answer.facts.DurationUs() : moment->pages->shown_us();
  return true;
}

void Split(double rss_bytes, AnswerMoment* moment) {
  moment->split = SplitMemory(*moment->pages, moment->heap.get(), rss_bytes);
}

// RSS as the model has it, or as it was read last.
double RssAt(const AnswerMoment& moment) {
  return static_cast<double>(moment.pages->model().RssBytes());
}

// When the program's own code had ended.
uint64_t EndOf(const RunFacts& facts) {
  const bool known =
      facts.footer.has_value() && facts.footer->finalize() == Footer::FINALIZED;
  return known ? facts.footer->finalize_us() : ResidentReplay::kEnd;
}

bool ReadInherited(RereadFile* file, Answer* answer) {
  if (!answer->facts.header.forked() || !answer->facts.HasHeap()) return true;
  auto heap = std::make_unique<HeapMoments>(
      std::vector<HeapMoment>{{HeapMoment::kEvents}});
  if (!file->Read(heap.get())) return false;
  answer->inherited = OwnHoldings(*heap, heap->SumsAt(0));
  answer->inherited_names = std::move(heap);
  return true;
}

// The step of the peak shows what was held at it.
void ShowPeak(uint64_t step_us, Answer* answer) {
  const size_t step =
      std::min<uint64_t>(answer->peak.time_us / step_us, Answer::kSteps - 1);
  for (const PlaceHolding& holding : answer->peak.split.places) {
    std::vector<double>& curve = answer->over_time.bytes[holding.place];
    curve.resize(std::max(curve.size(), Answer::kSteps));
    curve[step] = std::max(curve[step], holding.bytes - holding.file_bytes);
  }
}

// Of each of Answer::kSteps the growth is looked for at so many moments.
constexpr size_t kFiner = 6;
constexpr size_t kFineSteps = kFiner * (Answer::kSteps - 1) + 1;

// Less is not worth a word.
bool IsWorthTelling(const GrowthFit& fit, double rss_bytes) {
  constexpr double kLeastBytes = 512 << 10, kLeastShare = 0.002;
  constexpr uint64_t kLeastUs = 100000;
  return fit.span_us >= kLeastUs && fit.gained_bytes >= 2 * fit.error_bytes &&
         fit.gained_bytes >= std::max(kLeastBytes, kLeastShare * rss_bytes);
}

void FindGrowing(uint64_t step_us, Answer* answer) {
  for (const PlaceHolding& holding : answer->end.split.places) {
    const auto found = answer->over_time.bytes.find(holding.place);
    if (!holding.is_own || holding.is_import ||
        found == answer->over_time.bytes.end()) {
      continue;
    }
    std::optional<GrowthFit> fit =
        FitGrowth(found->second, step_us, kFineSteps);
    if (!fit.has_value()) continue;
    // What was sampled of the gain has its part of the line's variance.
    const double share =
        std::min(1.0, fit->gained_bytes / std::max(holding.bytes, 1.0));
    fit->error_bytes = std::sqrt(fit->error_bytes * fit->error_bytes +
                                 share * std::max(holding.variance, 0.0));
    if (!IsWorthTelling(*fit, answer->end.split.rss_bytes)) continue;
    answer->growing.push_back({holding.place, *fit});
  }
  std::stable_sort(answer->growing.begin(), answer->growing.end(),
                   [](const GrowingLine& a, const GrowingLine& b) {
                     return a.fit.gained_bytes > b.fit.gained_bytes;
                   });
}

// Every kFiner-th value stays.
void MakeCoarse(PlaceCurves* curves) {
  for (auto& [place, bytes] : curves->bytes) {
    size_t kept = 0;
    for (size_t i = 0; i < bytes.size(); i += kFiner) bytes[kept++] = bytes[i];
    bytes.resize(kept);
  }
}

bool ReadOverTime(RereadFile* file, Answer* answer) {
  if (!answer->facts.HasHeap() && !answer->has_pages) return true;
  const uint64_t end_us =
      std::min(answer->facts.DurationUs(), EndOf(answer->facts));
  const uint64_t step_us = std::max<uint64_t>(end_us / (kFineSteps - 1), 1);
  if (!ReadPlaceCurves(file, *answer, GroupBy::kLine, {step_us, kFineSteps},
                       &answer->over_time)) {
    return false;
  }
  FindGrowing(step_us, answer);
  MakeCoarse(&answer->over_time);
  if (answer->facts.HasHeap()) ShowPeak(kFiner * step_us, answer);
  return true;
}

}  // namespace

std::unique_ptr<Answer> ReadAnswer(RereadFile* file, bool with_curves) {
  auto answer = std::make_unique<Answer>();
  const auto finder = RunMoments::Of(ReadingOf(file));
  if (finder == nullptr || !file->ReadAgain(&answer->facts)) return nullptr;
  answer->has_pages = finder->has_page_events();
  answer->hindsight = finder->hindsight();
  if (!ReadMoment(file, finder->RssPeak().time_us, *answer, *finder,
                  &answer->peak) ||
      !ReadMoment(file, EndOf(answer->facts), *answer, *finder, &answer->end)) {
    return nullptr;
  }
  answer->peak.time_us = finder->RssPeak().time_us;
  answer->peak_bytes = static_cast<double>(finder->PeakBytes());
  Split(answer->peak_bytes, &answer->peak);
  Split(RssAt(answer->end), &answer->end);
  if (!ReadInherited(file, answer.get())) return nullptr;
  if (with_curves && !ReadOverTime(file, answer.get())) return nullptr;
  answer->has_no_end = !SawEnd(answer->facts.footer.value_or(Footer()));
  return answer;
}

}  // namespace pymemrun
