// Memory of each thread over time, with numbered peaks.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "readers/commands/time/timeline_options.h"
#include "readers/replay/calls/call_replay.h"
#include "readers/replay/heap/heap_history.h"
#include "readers/replay/heap_in_rss/heap_timeline.h"
#include "readers/replay/resident/resident_table.h"
#include "readers/replay/threads/thread_curves.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

constexpr uint64_t kUsualThreads = 8;

// On a phone, 360 dots wide, letters are still some 9 dots high.
constexpr PlotLayout kLayout = {.width = 600,
                                .left = 82,
                                .right = 16,
                                .top = 126,
                                .height = 300,
                                .font = 14,
                                .title_font = 18,
                                .legend_row = 21,
                                .time_ticks = 6};
constexpr size_t kSubtitleColumns = 62;

// The process's line among those of threads.
constexpr absl::string_view kProcess = "process";

// A point that the picture is to tell of.
struct Peak {
  size_t number = 0;
  uint64_t time_us = 0;
  std::string line;  // a thread's label, or kProcess
  double bytes = 0;  // of its line there; of a call what it changed RSS by
  std::string text;  // who, and where
};

// Reads what threads did by the best that a run has, and then who was highest.
class ThreadReader {
 public:
  ThreadReader(const TimelineOptions& options, RunReading* run)
      : options_(options), run_(*run), file_(*run->file()) {}

  // False: said; the run has the exit code.
  bool Read(Drawing* drawing);

 private:
  // What was read; nothing: that cannot be, or the run does not tell.
  enum class Found { kRead, kNothing, kFailed };
  Found ReadBest();
  Found ReadEvents(GrowthBy by);
  Found ReadHeap();
  bool ReadRss();
  bool FindCalls();
  void AddFurther(const std::vector<double>& values, const std::string& label);
  void FindHighest();
  void ThinPeaks();
  void Draw(Drawing* drawing);
  void DrawLines(TimeChart* chart) const;
  TimeChart::Mark MarkOf(const Peak& peak, const TimeChart& chart) const;
  size_t top() const { return options_.top.value_or(kUsualThreads); }

  const TimelineOptions& options_;
  RunReading& run_;
  RereadFile& file_;
  std::unique_ptr<RunMoments> finder_;
  MomentRange range_;
  Header header_;
  std::string meaning_;  // of a thread's line
  ThreadCurves found_;
  std::unique_ptr<ReplayVisitor> names_;
  std::vector<Peak> peaks_;
  bool knows_calls_ = false;    // the peaks are calls
  bool counts_others_ = false;  // what other threads did is in these
};

ThreadReader::Found ThreadReader::ReadEvents(GrowthBy by) {
  auto replay = std::make_unique<ThreadCurvesReplay>(
      by, EvenMoments(range_.from_us, range_.to_us, finder_->RssPeak().time_us),
      finder_->hindsight());
  if (!file_.Read(replay.get())) return Found::kFailed;
  if (by == GrowthBy::kEvents && !replay->any_row()) return Found::kNothing;
  ThreadFilter threads(options_.thread(), &replay->index());
  found_ = replay->Result(top(), &threads);
  meaning_ =
      by == GrowthBy::kFaults
          ? "pages that each thread added, minus those that its calls released"
          : "changes of RSS at each thread's events, whichever thread caused "
            "them";
  if (by == GrowthBy::kFaults && replay->header().page_weight() > 1) {
    absl::StrAppend(&meaning_, "; estimated: ", SampledText(replay->header()));
  }
  names_ = std::move(replay);
  return Found::kRead;
}

ThreadReader::Found ThreadReader::ReadHeap() {
  auto replay = std::make_unique<HeapHistoryReplay>(
      HeapHistoryOptions{.by = GroupBy::kThread,
                         .from_us = range_.from_us,
                         .to_us = range_.to_us,
                         .threads = options_.thread(),
                         .with_errors = true});
  if (!file_.Read(replay.get())) return Found::kFailed;
  if (!replay->has_heap_events()) return Found::kNothing;
  found_.curves = replay->Result({.top = top()});
  found_.curves.parts.clear();
  // Estimates may fall below 0. Whole bytes make text and CSV agree.
  const auto make_whole = [](std::vector<double>* values) {
    for (double& value : *values) value = std::floor(std::max(value, 0.0));
  };
  make_whole(&found_.curves.others.values);
  for (Series& series : found_.curves.chosen) {
    make_whole(&series.values);
    make_whole(&series.errors);
    const auto highest =
        std::max_element(series.values.begin(), series.values.end());
    found_.highs.push_back(
        {found_.curves.time_us[highest - series.values.begin()], *highest});
  }
  meaning_ = absl::StrCat(
      "live heap that each thread allocated, whichever thread frees it",
      replay->sampled() ? "; estimated from samples" : "");
  names_ = std::move(replay);
  return Found::kRead;
}

ThreadReader::Found ThreadReader::ReadBest() {
  if (options_.attribution.is_observed()) return ReadEvents(GrowthBy::kEvents);
  if (finder_->has_page_events() && !finder_->by_scan()) {
    return ReadEvents(GrowthBy::kFaults);
  }
  const Found heap = ReadHeap();
  return heap == Found::kNothing ? ReadEvents(GrowthBy::kEvents) : heap;
}

bool ThreadReader::ReadRss() {
  RssAtMoments rss(found_.curves.time_us, finder_->hindsight());
  if (!file_.Read(&rss)) return false;
  header_ = rss.header();
  found_.curves.total = rss.Result();
  found_.curves.others.place = NamedPlace("other threads");
  return true;
}

// "Thread-6 > main.py:44 run"; the file without its folders.
std::string PeakLabel(absl::string_view thread, Place place) {
  place.file = place.file.substr(place.file.rfind('/') + 1);
  return absl::StrCat(thread, " > ", LabelOf(place));
}

// Those of `pymemreport calls` in the range. False: nothing could be read.
bool ThreadReader::FindCalls() {
  if (!CallReplay::MayKnow(header_)) return true;
  PeakReplay replay(options_.peaks.rule, options_.peaks.choice);
  options_.attribution.Give(&replay);
  if (!file_.Read(&replay)) return false;
  knows_calls_ = replay.any();
  counts_others_ =
      !options_.attribution.by_thread() && replay.threads_seen() > 1;
  size_t number = 0;
  for (const EndedCall& call : replay.Peaks()) {
    ++number;
    if (call.time_us < range_.from_us || call.time_us > range_.to_us) continue;
    const RunIndex& index = replay.index();
    const SourceLocation where = index.Resolve(call.site);
    peaks_.push_back(
        {number, call.time_us,
         std::string(index.LatestThreadLabel(call.thread)),
         static_cast<double>(call.charged_bytes),
         PeakLabel(index.ThreadName(index.LatestThread(call.thread)),
                   {where.file, where.line, where.function})});
  }
  return true;
}

// Adds the points after which the line falls by more than --min, having risen
// by as much. `turn` is the last extreme, `is_up` the direction towards it. The
// highest point is left out: it is a peak in any case.
void ThreadReader::AddFurther(const std::vector<double>& values,
                              const std::string& label) {
  const auto least = static_cast<double>(options_.peaks.rule.min_bytes);
  const size_t highest =
      std::max_element(values.begin(), values.end()) - values.begin();
  bool is_up = false;
  for (size_t i = 1, turn = 0; i < values.size(); ++i) {
    const double up = values[i] - values[turn];
    if (is_up ? up > 0 : up < 0) {
      turn = i;
    } else if (std::fabs(up) > least) {
      if (is_up && turn != highest) {
        peaks_.push_back(
            {0, found_.curves.time_us[turn], label, values[turn], label});
      }
      is_up = !is_up;
      turn = i;
    }
  }
}

// For a run without calls: the high points of each line, by time.
void ThreadReader::FindHighest() {
  const Curves& curves = found_.curves;
  for (size_t i = 0; i < curves.chosen.size(); ++i) {
    const HighPoint& high = found_.highs[i];
    if (high.bytes <= 0) continue;
    const std::string label = LabelOf(curves.chosen[i].place);
    AddFurther(curves.chosen[i].values, label);
    peaks_.push_back({0, high.time_us, label, high.bytes, label});
    if (high.stack == 0) continue;
    peaks_.back().text = PeakLabel(
        label,
        PlaceOf(GroupBy::kLine, names_->index(), Origin{.stack = high.stack}));
  }
  const auto& rss = curves.total.values;
  const auto highest = std::max_element(rss.begin(), rss.end());
  if (highest != rss.end()) {
    const std::string label(kProcess);
    AddFurther(rss, label);
    peaks_.push_back(
        {0, curves.time_us[highest - rss.begin()], label, *highest, label});
  }
  std::stable_sort(
      peaks_.begin(), peaks_.end(),
      [](const Peak& a, const Peak& b) { return a.time_us < b.time_us; });
}

// Keeps the largest peak of each part of the time.
void ThreadReader::ThinPeaks() {
  const size_t most = options_.most_peaks;
  if (peaks_.size() <= most) return;
  const double part_us =
      std::max(1.0, static_cast<double>(range_.to_us - range_.from_us)) / most;
  std::vector<Peak> kept;
  size_t last_part = most;
  for (Peak& peak : peaks_) {
    const double parts =
        static_cast<double>(peak.time_us - range_.from_us) / part_us;
    const size_t part = std::min(static_cast<size_t>(parts), most - 1);
    if (part != std::exchange(last_part, part)) {
      kept.push_back(std::move(peak));
    } else if (std::fabs(peak.bytes) > std::fabs(kept.back().bytes)) {
      kept.back() = std::move(peak);
    }
  }
  peaks_ = std::move(kept);
}

std::string WithError(double bytes, double error_bytes) {
  return error_bytes < 1 ? HumanBytes(bytes)
                         : absl::StrCat(HumanBytes(bytes), " \u00b1",
                                        HumanBytes(std::floor(error_bytes)));
}

// "peak 200.0 KiB, end 40.0 KiB".
std::string MostText(const Series& series, double most) {
  const std::vector<double>& values = series.values;
  const size_t at =
      std::max_element(values.begin(), values.end()) - values.begin();
  const auto error = [&](size_t moment) {
    return moment < series.errors.size() ? series.errors[moment] : 0;
  };
  const size_t last = values.size() - 1;
  return absl::StrCat("peak ", WithError(std::max(most, 0.0), error(at)),
                      ", end ", WithError(values[last], error(last)));
}

void ThreadReader::DrawLines(TimeChart* chart) const {
  static constexpr const char* kColors[] = {
      "#1f6fb4", "#d1550b", "#2b8a3e", "#c2255c", "#6741d9", "#8a5a2b",
      "#0b7285", "#b08900", "#5c7c0a", "#ae3ec9", "#495057", "#c92a2a"};
  const Curves& curves = found_.curves;
  Series process = curves.total;
  const double lowest =
      *std::min_element(process.values.begin(), process.values.end());
  // RSS is mostly far above what threads added: without its lowest value all
  // lines fit one scale.
  const double rebase = options_.rebase.has_value()
                            ? static_cast<double>(*options_.rebase)
                            : lowest;
  for (double& value : process.values) value -= rebase;
  chart->lines.push_back(
      {rebase == 0 ? absl::StrCat(kProcess, ": RSS")
                   : absl::StrCat(kProcess, ": RSS minus ", HumanBytes(rebase)),
       MostText(process, process.Peak()), process.values});
  for (size_t i = 0; i < curves.chosen.size(); ++i) {
    const Series& series = curves.chosen[i];
    chart->lines.push_back({LabelOf(series.place),
                            MostText(series, found_.highs[i].bytes),
                            series.values, kColors[i % std::size(kColors)],
                            i < std::size(kColors) ? "" : "6 3"});
  }
  const Series& others = curves.others;
  if (found_.others == 0 && others.Peak() <= 0) return;
  chart->lines.push_back(
      {absl::StrCat(found_.others == 0 ? LabelOf(others.place)
                                       : Counted(found_.others, "other thread"),
                    ", together"),
       MostText(others, others.Peak()), others.values, "#8c959f"});
}

// On the line of that name; a thread without a line of its own is in the one of
// all others, the last.
TimeChart::Mark ThreadReader::MarkOf(const Peak& peak,
                                     const TimeChart& chart) const {
  const auto found = std::find_if(
      chart.lines.begin() + 1, chart.lines.end(),
      [&peak](const TimeChart::Line& line) { return line.label == peak.line; });
  const TimeChart::Line& line = peak.line == kProcess ? chart.lines.front()
                                : found != chart.lines.end()
                                    ? *found
                                    : chart.lines.back();
  const auto& moments = chart.time_us;
  const auto after =
      std::lower_bound(moments.begin(), moments.end() - 1, peak.time_us);
  const double drawn = line.bytes[after - moments.begin()];
  const bool is_process = peak.line == kProcess;  // drawn minus --rebase
  const double bytes = is_process ? drawn : peak.bytes;
  return {absl::StrCat(peak.number),
          static_cast<double>(*after) / 1e6,
          drawn,
          is_process ? line.label : peak.text,
          absl::StrCat(knows_calls_ && bytes > 0 ? "+" : "", HumanBytes(bytes),
                       " at ", HumanSeconds(peak.time_us)),
          line.color};
}

void ThreadReader::Draw(Drawing* drawing) {
  TimeChart& chart = drawing->chart;
  chart.layout = kLayout;
  chart.title = TitleOf("Memory by thread", header_.script());
  Terminal page;
  page.columns = kSubtitleColumns;
  chart.subtitle = page.Wrapped(
      absl::StrCat(
          "process ", header_.pid(), "; threads: ", meaning_,
          knows_calls_ ? "; numbers: calls, as in `pymemreport calls`" : "",
          counts_others_ ? ", including what other threads did at the same time"
                         : ""),
      0);
  if (!chart.subtitle.empty()) chart.subtitle.pop_back();  // the line's end
  chart.time_us = found_.curves.time_us;
  chart.numbers_marks = true;
  DrawLines(&chart);
  ThinPeaks();
  for (size_t i = 0; i < peaks_.size() && !knows_calls_; ++i) {
    peaks_[i].number = i + 1;
  }
  for (const Peak& peak : peaks_) chart.marks.push_back(MarkOf(peak, chart));
}

bool ThreadReader::Read(Drawing* drawing) {
  finder_ = run_.ReadMoments();
  if (finder_ == nullptr) return false;
  ThreadFilter threads(options_.thread(), &finder_->index());
  int code = kExitOk;
  if (!run_.HasThread(&threads)) return false;
  if (!FindRange(options_.range.from, options_.range.to, run_.file(),
                 run_.console(), &finder_, &range_, &code)) {
    return run_.Fail(code);
  }
  range_.to_us =
      std::min(range_.to_us, std::max(finder_->EndUs(), uint64_t{1}));
  const Found found = ReadBest();
  if (found == Found::kFailed || !ReadRss()) return run_.Fail(kExitFailed);
  if (!run_.Has(found == Found::kRead,
                "has neither page faults nor heap events nor events of calls: "
                "which thread took memory is unknown")) {
    return false;
  }
  if (options_.as_svg) {
    if (!FindCalls()) return run_.Fail(kExitFailed);
    if (peaks_.empty() && options_.view().chooses_places()) {
      run_.Say(knows_calls_ ? options_.peaks.NoCall()
                            : absl::StrCat(options_.view().LeavesNone(),
                                           "call: the run has none"));
    }
    if (!knows_calls_) FindHighest();
    Draw(drawing);
  }
  drawing->curves = std::move(found_.curves);
  drawing->names.push_back(std::move(names_));
  return true;
}

}  // namespace

bool DrawThreads(TimelineOptions* options, RunReading* run, Drawing* drawing) {
  options->attribution.Read(run->file());
  return ThreadReader(*options, run).Read(drawing);
}

}  // namespace pymemrun
