#include "readers/answer/memory/answer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "readers/replay/heap/heap_exit.h"
#include "readers/replay/moments/moment_reading.h"
#include "readers/replay/resident/find_peak.h"

namespace pymemrun {
namespace {

// RSS of the model, or of the last reading.
double RssAt(const AnswerMoment& moment) {
  return static_cast<double>(moment.pages->model().RssBytes());
}

// When the program's own code ended, or the last moment with known resident
// pages.
uint64_t EndOf(const Answer& answer) {
  const RunFacts& facts = answer.facts;
  const bool known =
      facts.footer.has_value() && facts.footer->finalize() == Footer::FINALIZED;
  if (known) return facts.footer->finalize_us();
  return answer.end_unknown_us == 0 ? ResidentReplay::kEnd : answer.end.time_us;
}

// Growth needs more moments than a curve shows: this number in each step.
constexpr size_t kFiner = 6;
// Every kFiner-th fine moment is one of the curve; both begin at 0 and end
// together.
constexpr size_t kFineSteps = kFiner * (Answer::kSteps - 1) + 1;

// At kFineSteps moments.
EvenSteps StepsOf(const Answer& answer) {
  const uint64_t end_us = std::min(answer.facts.DurationUs(), EndOf(answer));
  // Up to the end of the program's own code, as finalization frees memory.
  return {std::max<uint64_t>(end_us / (kFineSteps - 1), 1), kFineSteps};
}

EvenSteps CoarseOf(const EvenSteps& steps) {
  return {kFiner * steps.step_us, Answer::kSteps};
}

// Reads the resident pages at the peak and at the end. With `steps`, also the
// pages of files that lines have at these moments.
bool ReadPages(RereadFile* file, const Hindsight& hindsight,
               const std::optional<EvenSteps>& steps, Answer* answer) {
  answer->peak.pages =
      std::make_unique<ResidentReplay>(answer->peak.time_us, hindsight);
  // At this moment RSS is that of the reading.
  Hindsight of_end = hindsight;
  of_end.peak_rss_bytes = 0;
  if (steps.has_value()) {
    auto files = std::make_unique<FileTimeline>(
        CoarseOf(*steps), EndOf(*answer), std::move(of_end));
    answer->files = files.get();
    answer->end.pages = std::move(files);
  } else {
    answer->end.pages =
        std::make_unique<ResidentReplay>(EndOf(*answer), std::move(of_end));
  }
  if (!file->Read({answer->peak.pages.get(), answer->end.pages.get()})) {
    return false;
  }
  answer->end.time_us = EndOf(*answer) == ResidentReplay::kEnd
                            ? answer->facts.DurationUs()
                            : answer->end.pages->shown_us();
  return true;
}

void SplitPeak(const HeapReplay* heap, Answer* answer) {
  answer->peak.split =
      SplitMemory(*answer->peak.pages, heap, answer->peak_bytes);
}

void SplitEnd(const HeapReplay* heap, Answer* answer) {
  answer->end.split = SplitMemory(*answer->end.pages, heap, RssAt(answer->end));
}

// Splits the memory of both moments while the heap is read. The model passes
// through both, so one reading is enough. REQUIRES: the pages of both were
// read.
bool ReadHeap(std::shared_ptr<HeapReplay> heap, RereadFile* file,
              Answer* answer) {
  const HeapReplay* const read = heap.get();
  heap->LookAt(answer->peak.time_us,
               [read, answer] { SplitPeak(read, answer); });
  heap->LookAt(EndOf(*answer), [read, answer] { SplitEnd(read, answer); });
  if (!file->Read(heap.get())) return false;
  answer->peak.heap = answer->end.heap = std::move(heap);
  return true;
}

// Stops before the child's first event, when the model has only the parent's
// blocks.
bool ReadInherited(RereadFile* file, Answer* answer) {
  if (!answer->facts.header.forked() || !answer->facts.HasHeap()) return true;
  auto heap = std::make_unique<HeapMoments>(
      std::vector<HeapMoment>{{HeapMoment::kEvents}});
  if (!file->Read(heap.get())) return false;
  answer->inherited = OwnHoldings(*heap, heap->SumsAt(0));
  answer->inherited_names = std::move(heap);
  return true;
}

// The step of the peak shows what was held at the peak.
void ShowPeak(uint64_t step_us, Answer* answer) {
  const size_t step =
      std::min<uint64_t>(answer->peak.time_us / step_us, Answer::kSteps - 1);
  for (const PlaceHolding& holding : answer->peak.split.places) {
    std::vector<double>& curve = answer->over_time.bytes[holding.place];
    curve.resize(std::max(curve.size(), Answer::kSteps));
    curve[step] = std::max(curve[step], holding.bytes);
  }
}

// Smaller growth is not reported.
bool IsWorthTelling(const GrowthFit& fit, double rss_bytes) {
  constexpr double kLeastBytes = 512 << 10, kLeastShare = 0.002;
  constexpr uint64_t kLeastUs = 100000;
  return fit.span_us >= kLeastUs && fit.gained_bytes >= 2 * fit.error_bytes &&
         fit.gained_bytes >= std::max(kLeastBytes, kLeastShare * rss_bytes);
}

// Own lines whose curve still rises at the end. Imports are left out: they grow
// only until the program has loaded.
void FindGrowing(uint64_t step_us, Answer* answer) {
  for (const PlaceHolding& holding : answer->end.split.places) {
    const auto found = answer->over_time.bytes.find(holding.place);
    if (!holding.is_own || holding.is_import ||
        found == answer->over_time.bytes.end()) {
      continue;
    }
    const std::optional<GrowthFit> fit =
        FitGrowth(found->second, answer->over_time.gain_variance[holding.place],
                  step_us, kFineSteps);
    if (!fit.has_value() ||
        !IsWorthTelling(*fit, answer->end.split.rss_bytes)) {
      continue;
    }
    answer->growing.push_back({holding.place, *fit});
  }
  std::stable_sort(answer->growing.begin(), answer->growing.end(),
                   [](const GrowingLine& a, const GrowingLine& b) {
                     return a.fit.gained_bytes > b.fit.gained_bytes;
                   });
}

// Keeps every kFiner-th value.
void MakeCoarse(PlaceCurves* curves) {
  curves->gain_variance.clear();
  for (auto& [place, bytes] : curves->bytes) {
    size_t kept = 0;
    for (size_t i = 0; i < bytes.size(); i += kFiner) bytes[kept++] = bytes[i];
    bytes.resize(kept);
  }
}

// Growth is sought in the fine curves of blocks. Then these become coarse, and
// what lines hold besides their blocks is added.
bool UseCurves(const EvenSteps& steps, RereadFile* file, Answer* answer) {
  FindGrowing(steps.step_us, answer);
  MakeCoarse(&answer->over_time);
  if (!answer->facts.HasHeap()) return true;
  const EvenSteps coarse = CoarseOf(steps);
  if (!ReadHeldCurves(file, *answer, coarse, &answer->over_time)) return false;
  answer->files->AddTo(&answer->over_time);
  ShowPeak(coarse.step_us, answer);
  return true;
}

// Reads what both moments consist of, and the curves if they are requested.
bool ReadParts(RereadFile* file, bool with_curves, const EvenSteps& steps,
               Answer* answer) {
  const bool has_heap = answer->facts.HasHeap();
  // The curves of a forked process start with what it inherited.
  const bool together =
      with_curves && has_heap && !answer->facts.header.forked();
  if (together) {
    std::shared_ptr<HeapHistoryReplay> heap =
        HeapCurves(GroupBy::kLine, steps, answer->hindsight.waits);
    if (!ReadHeap(heap, file, answer)) return false;
    TakeCurves(std::move(heap), steps, &answer->over_time);
  } else if (has_heap) {
    auto heap =
        std::make_shared<HeapReplay>(HeapReplay::kEnd, /*to_end=*/false);
    heap->KnowWaits(answer->hindsight.waits);
    heap->BeginWithNothing();
    if (!ReadHeap(std::move(heap), file, answer)) return false;
  } else {
    SplitPeak(nullptr, answer);
    SplitEnd(nullptr, answer);
  }
  if (!ReadInherited(file, answer)) return false;
  if (!with_curves || (!has_heap && !answer->has_pages)) return true;
  if (!together && !ReadPlaceCurves(file, *answer, GroupBy::kLine, steps,
                                    &answer->over_time)) {
    return false;
  }
  return UseCurves(steps, file, answer);
}

}  // namespace

// Three readings or more: of the moments, the pages and the blocks. Each needs
// what the one before found.
std::unique_ptr<Answer> ReadAnswer(RereadFile* file, bool with_curves) {
  auto answer = std::make_unique<Answer>();
  answer->writing = WritingOf(file->fd());
  RecordVisitor* facts = &answer->facts;  // of the first reading
  const auto finder =
      RunMoments::Of([&](absl::Span<ReplayVisitor* const> visitors) {
        return file->Read(visitors, std::exchange(facts, nullptr));
      });
  if (finder == nullptr) return nullptr;
  answer->has_pages = finder->has_page_events();
  answer->hindsight = finder->hindsight();
  answer->peak.time_us = finder->RssPeak().time_us;
  answer->peak_bytes = static_cast<double>(finder->PeakBytes());
  answer->end.time_us = finder->KnownUntilUs();
  answer->end_unknown_us = finder->EndUs() - answer->end.time_us;
  const EvenSteps steps = StepsOf(*answer);
  // Without blocks the curves are those of pages, which include files.
  const bool with_files = with_curves && answer->facts.HasHeap();
  if (!ReadPages(file, finder->hindsight(),
                 with_files ? std::make_optional(steps) : std::nullopt,
                 answer.get()) ||
      !ReadParts(file, with_curves, steps, answer.get())) {
    return nullptr;
  }
  answer->has_no_end = !SawEnd(answer->facts.footer.value_or(Footer()));
  return answer;
}

}  // namespace pymemrun
