// RSS over time, by place or beside the heap, and lanes of threads.
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "readers/answer/memory/held_timeline.h"
#include "readers/commands/time/timeline_options.h"
#include "readers/pictures/lanes/thread_lanes.h"
#include "readers/replay/heap/heap_history.h"
#include "readers/replay/heap/heap_places.h"
#include "readers/replay/heap_in_rss/heap_timeline.h"
#include "readers/replay/moments/moment.h"
#include "readers/replay/resident/find_peak.h"
#include "readers/replay/resident/resident_table.h"
#include "readers/replay/resident/timeline.h"
#include "readers/tracks/track_source.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

constexpr uint64_t kUsualLayers = 8, kUsualLanes = 24;
constexpr uint64_t kHairline = 360;  // of the picture's height

// Where the picture begins and ends, and the highest RSS in between.
struct Part {
  uint64_t from_us = 0, to_us = 0, peak_us = 0, peak_bytes = 0;
};

// Whose bytes the layers are.
std::string Meaning(GroupBy by, bool held, const ResidentReplay& replay) {
  const absl::string_view scanned = replay.by_scan() ? " (pages by scan)" : "";
  if (!held && replay.by_scan()) {
    return absl::StrCat("by the mapping that pages are part of", scanned);
  }
  return absl::StrCat(
      "by ", by == GroupBy::kFunction ? "Python " : "", GroupByName(by),
      held ? " that holds it, estimated from live blocks" : " of first touch",
      scanned);
}

void SetTexts(GroupBy by, bool held, const ResidentReplay& replay,
              TimeChart* chart) {
  const Header& header = replay.header();
  chart->title = TitleOf("Resident memory", header.script());
  chart->subtitle =
      absl::StrCat(Meaning(by, held, replay), "; process ", header.pid());
  if (replay.model().sampled()) {
    absl::StrAppend(&chart->subtitle,
                    "; estimated: ", SampledText(replay.header()));
  }
  if (replay.lost_samples() > 0) {
    absl::StrAppend(&chart->subtitle, "; ",
                    Counted(replay.lost_samples(), "page event"), " lost");
  }
}

// The values of places or parts with some names together.
template <typename Wanted>
std::vector<double> SumOf(const std::vector<Series>& all, size_t moments,
                          const Wanted& wanted) {
  std::vector<double> sum(moments);
  for (const Series& series : all) {
    if (!wanted(series.place.file)) continue;
    for (size_t i = 0; i < moments; ++i) sum[i] += series.values[i];
  }
  return sum;
}

bool IsOfPython(absl::string_view allocator) {
  return allocator == HeapAllocatorName(HEAP_RAW) ||
         allocator == HeapAllocatorName(HEAP_MEM) ||
         allocator == HeapAllocatorName(HEAP_OBJ);
}

// Subtracts Python, C code and tracing itself, parts 0 to 2, from the rest,
// part 3, which is all of RSS so far. The tracer's memory was there when
// tracing started. It is added only as far as it fits into RSS.
void TakeFromRest(double own_bytes, std::vector<Series>* parts) {
  std::vector<double>& rest = (*parts)[3].values;
  for (size_t i = 0; i < rest.size(); ++i) {
    double left = rest[i];
    for (size_t part = 0; part < 3; ++part) left -= (*parts)[part].values[i];
    (*parts)[2].values[i] += std::clamp(left, 0.0, own_bytes);
    for (size_t part = 0; part < 3; ++part) {
      double& value = (*parts)[part].values[i];
      rest[i] -= value = std::round(value);
    }
  }
}

// What C code has mapped is no layer: RSS has only what was touched of it, in
// its rest. It is shown of a run with --native, whose blocks of C code are a
// layer.
std::vector<Series> PartsOf(const Curves& heap, const std::vector<double>& rss,
                            const Header& header) {
  const auto named = [](absl::string_view name) {
    return [name](absl::string_view other) { return other == name; };
  };
  const size_t moments = rss.size();
  std::vector<Series> parts = {
      {NamedPlace("python_bytes"), "Python's live blocks, bytes asked for",
       "#4e79a7", false, SumOf(heap.chosen, moments, IsOfPython)},
      {NamedPlace("native_bytes"), "native live blocks, bytes asked for",
       header.heap_native() ? "#59a14f" : "", false,
       SumOf(heap.chosen, moments, std::not_fn(IsOfPython))},
      {NamedPlace("tracing_bytes"), "tracing itself", "#edc948", false,
       SumOf(heap.parts, moments, named(kTracingItself))},
      {NamedPlace("rest_bytes"),
       "rest of RSS: code, mappings, what allocators keep", "#c9ced4", false,
       rss},
  };
  TakeFromRest(static_cast<double>(header.own_bytes()), &parts);
  if (header.heap_native()) {
    parts.push_back({NamedPlace("reserved_bytes"), "", "", false,
                     SumOf(heap.parts, moments, named(kReserved))});
  }
  return parts;
}

void SetTexts(const HeapReplay& heap, uint64_t peak_us, Drawing* drawing) {
  TimeChart& chart = drawing->chart;
  chart.title = TitleOf("RSS and the heap", heap.header().script());
  chart.subtitle = absl::StrCat(
      "process ", heap.header().pid(),
      heap.sampled() ? "; live bytes are estimated from samples" : "");
  const Series& last = drawing->curves.parts.back();
  if (last.color.empty() && last.Peak() > 0) {
    absl::StrAppend(&chart.subtitle,
                    "; reserved, not known to be touched: up to ",
                    HumanBytes(last.Peak()));
  }
  Curves layers = drawing->curves;
  for (Series& part : layers.parts) {
    // Blocks that no code touched are not in RSS.
    for (double& value : part.values) value = std::max(value, 0.0);
  }
  chart.AddLayers(layers);
  chart.MarkTotal(layers, peak_us);
}

// Two readings at the same moments: live bytes by allocator, and RSS.
bool DrawRssAndHeap(const RunMoments& finder, RunReading* run,
                    Drawing* drawing) {
  const uint64_t end_us = finder.EndUs();
  const uint64_t peak_us = std::min(finder.RssPeak().time_us, end_us);
  Curves& curves = drawing->curves;
  curves.time_us = EvenMoments(0, end_us, peak_us);
  HeapHistoryReplay heap({.by = GroupBy::kAllocator,
                          .moments = curves.time_us,
                          .from_us = curves.time_us[0]});
  RssAtMoments rss(curves.time_us, finder.hindsight());
  if (!run->Read(&heap) || !run->Read(&rss)) return false;
  curves.total = rss.Result();
  curves.parts = PartsOf(heap.Result(), curves.total.values, heap.header());
  SetTexts(heap, peak_us, drawing);
  return true;
}

// The peak of a part is not that of the run: it takes a reading of its own.
// False: there is no such part, which has been said.
bool FindPart(const RangeOptions& range, RunReading* run,
              std::unique_ptr<RunMoments>* finder, Part* part) {
  const uint64_t last_us = (*finder)->last_us();
  *part = {0, last_us, std::min((*finder)->RssPeak().time_us, last_us),
           (*finder)->PeakBytes()};
  if (!range.any()) return true;
  MomentRange found;
  int code = kExitOk;
  if (!FindRange(range.from, range.to, run->file(), run->console(), finder,
                 &found, &code)) {
    return run->Fail(code);
  }
  part->from_us = found.from_us;
  part->to_us = std::min(found.to_us, last_us);
  PartPeak peak(part->from_us, part->to_us, (*finder)->hindsight());
  if (!run->Read(&peak)) return false;
  part->peak_us = peak.time_us();
  part->peak_bytes = peak.bytes();
  return true;
}

// Null: the options do not suit what was recorded, or the file could not be
// read, which has been said.
std::unique_ptr<TimelineReplay> ReadPart(const TimelineOptions& options,
                                         const Part& part, bool held,
                                         const RunMoments& finder,
                                         RunReading* run) {
  std::vector<uint64_t> moments =
      EvenMoments(part.from_us, part.to_us, part.peak_us);
  std::unique_ptr<TimelineReplay> replay;
  if (held) {
    replay = std::make_unique<HeldTimelineReplay>(
        *options.by, std::move(moments), part.peak_us, run->file()->fd(),
        finder.hindsight());
  } else {
    replay = std::make_unique<TimelineReplay>(*options.by, std::move(moments),
                                              finder.hindsight());
  }
  replay->KeepThreads(options.thread());
  // Whether pages were scanned is known only after the reading.
  const bool is_known =
      run->Read(replay.get()) &&
      run->Has(!replay->by_scan() || held || options.thread().empty(),
               "--thread: pages were scanned, so which thread touched them is "
               "unknown (--owner heap shows who allocated them)") &&
      run->HasThread(&replay->threads());
  return is_known ? std::move(replay) : nullptr;
}

// What threads are called is all that it keeps.
class ThreadNames final : public ReplayVisitor {
 public:
  HeapUse heap_use() const override { return HeapUse::kNone; }
  void Finish() override {}
};

}  // namespace

bool DrawRss(const TimelineOptions& options, RunReading* run,
             Drawing* drawing) {
  auto finder = run->ReadMoments();
  if (finder == nullptr) return false;
  if (!options.by.has_value()) return DrawRssAndHeap(*finder, run, drawing);
  Part part;
  if (!FindPart(options.range, run, &finder, &part)) return false;
  // Memory is charged to who holds it, if that is known.
  const bool held =
      options.held.value_or(run->file()->recorded().Has(Recorded::kHeap));
  auto replay = ReadPart(options, part, held, *finder, run);
  if (replay == nullptr) return false;
  SeriesChoice choice = {.top = options.top.value_or(kUsualLayers),
                         .view = options.view()};
  // What would be no more than a hairline needs no colour.
  if (options.as_svg) {
    choice.least = static_cast<double>(part.peak_bytes / kHairline);
  }
  drawing->curves = replay->Result(choice);
  SetTexts(*options.by, held, *replay, &drawing->chart);
  drawing->chart.AddLayers(drawing->curves);
  drawing->chart.MarkTotal(drawing->curves, part.peak_us);
  drawing->names.push_back(std::move(replay));
  return true;
}

bool PrintLanes(const TimelineOptions& options, RunReading* run,
                OutputBuffer* output) {
  MomentRange range;
  if (!run->Find(options.range, &range)) return false;
  // A time beyond the run would squeeze it into a part of the picture.
  const uint64_t to_us = std::min(range.to_us, LastMomentOf(run->file()));
  ThreadNames names;
  // Threads must be known before the first slice is added up.
  ThreadFilter wanted(options.thread(), &names.index());
  if (wanted.any() && !run->Read(&names)) return false;
  if (!run->HasThread(&wanted)) return false;
  LaneLevels levels(to_us, kReadColumns, range.from_us,
                    options.range.to.has_value());
  levels.KeepThreads([&](uint32_t thread) { return wanted.Keeps(thread); });
  if (!ReadLanes(run->file(), &levels)) return run->Fail(kExitFailed);
  const LaneChart chart =
      ThreadLanes(levels, options.top.value_or(kUsualLanes));
  const auto known = chart.lanes.empty() && options.range.any()
                         ? EventTimesOf(run->file())
                         : std::nullopt;
  if (known.has_value()) {
    return run->Has(
        false, NotInRange("events of threads", known->first, known->second));
  }
  if (!run->Has(!chart.lanes.empty(),
                "what threads did was not recorded: record calls (--min-drss "
                "0), page faults, heap events, the GIL, states or tasks")) {
    return false;
  }
  PrintSvg(chart, output);
  return true;
}

}  // namespace pymemrun
