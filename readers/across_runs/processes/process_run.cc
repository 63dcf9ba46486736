#include "readers/across_runs/processes/process_run.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "readers/output/whole_number.h"
#include "readers/places/place.h"
#include "readers/replay/summary/run_facts.h"

namespace pymemrun {
namespace {

// Bounds what a file says.
constexpr uint64_t kMaxDurationUs = uint64_t{1} << 60;
// The number of moments for the memory of lines.
constexpr size_t kSteps = 50;

// Reads RSS and PSS at events and samples.
class CurveReader final : public RecordVisitor {
 public:
  explicit CurveReader(MemoryCurve* curve) : curve_(*curve) {}

  void OnHeader(const Header& header) override {
    curve_.AddRss(0, header.first_rss_bytes());
  }
  bool OnRows(const Row* rows, size_t count) override {
    for (size_t i = 0; i < count; ++i) {
      if (rows[i].rss_bytes == 0) continue;
      curve_.AddRss(rows[i].time_us, rows[i].rss_bytes);
    }
    return true;
  }
  void OnProcess(const ProcessSample& sample) override {
    if (sample.file_bytes() != 0) file_bytes_ = sample.file_bytes();
    if (sample.rss_bytes() == 0 && sample.pss_bytes() == 0) return;
    const uint64_t rss_bytes =
        // PSS is read together with RSS, which may be missing in the sample
        // itself.
        sample.rss_bytes() == 0 ? sample.pss_rss_bytes() : sample.rss_bytes();
    curve_.Add({sample.time_us(), rss_bytes, sample.pss_bytes(), file_bytes_});
  }
  void OnResidency(const ResidencyView& seen) override {
    if (seen.rss_bytes != 0) curve_.AddRss(seen.time_us, seen.rss_bytes);
  }

 private:
  MemoryCurve& curve_;
  uint64_t file_bytes_ = 0;  // the latest one
};

// The command line from this word on, quoted.
std::string CommandOf(const Header& header, int first_word) {
  if (header.argv_size() <= first_word) {
    return header.script().empty() ? header.python() : header.script();
  }
  return absl::StrJoin(header.argv().begin() + first_word, header.argv().end(),
                       " ");
}

// The program's name and arguments, as far as a line has room.
std::string ProgramOf(const Header& header) {
  constexpr size_t kMost = 48;
  std::string program = CommandOf(header, 1);
  const size_t name_end = std::min(program.find(' '), program.size());
  const size_t slash = program.rfind('/', name_end);
  if (slash != std::string::npos && slash + 1 < name_end) {
    program.erase(0, slash + 1);
  }
  if (program.size() <= kMost) return program;
  return program.substr(0, kMost) + "...";
}

// The own line that holds most at the peak.
std::string TopLine(const Answer& answer) {
  for (const PlaceHolding& holding : answer.peak.split.places) {
    if (holding.is_own) return LabelOf(holding.place);
  }
  return "";
}

// PSS moves as RSS does between its readings, so it may be higher there than at
// any reading.
uint64_t Highest(const std::vector<MemoryStep>& steps) {
  uint64_t bytes = 0;
  for (const MemoryStep& step : steps) bytes = std::max(bytes, step.bytes);
  return bytes;
}

// When the program's own code ended, on the run's clock.
uint64_t OwnEndUs(const RunFacts& facts) {
  if (facts.footer.has_value() &&
      facts.footer->finalize() == Footer::FINALIZED) {
    return facts.footer->finalize_us();
  }
  return facts.DurationUs();
}

// Returns false if the file could not be read.
bool FindGrowth(RereadFile* file, const Answer& answer, const MemoryCurve& rss,
                ProcessGrowth* growth) {
  // Up to the end of the program's own code: finalization frees memory.
  const EvenSteps steps = {
      std::max<uint64_t>(OwnEndUs(answer.facts) / kSteps, 1), kSteps};
  PlaceCurves curves;
  if ((answer.facts.HasHeap() || answer.has_pages) &&
      !ReadPlaceCurves(file, answer, GroupBy::kWorkLine, steps, &curves)) {
    return false;
  }
  *growth = FindGrowth(curves, steps, rss.Rss());
  return true;
}

}  // namespace

std::optional<ProcessRun> ReadProcess(RereadFile* file) {
  const auto answer = ReadAnswer(file, /*with_curves=*/false);
  if (answer == nullptr) return std::nullopt;
  return ReadProcess(file, *answer);
}

std::optional<ProcessRun> ReadProcess(RereadFile* file, const Answer& answer) {
  const RunFacts& facts = answer.facts;
  const Header& header = facts.header;
  MemoryCurve curve;
  CurveReader reader(&curve);
  ProcessRun run;
  if (!file->ReadAgain(&reader) ||
      !FindGrowth(file, answer, curve, &run.growth)) {
    return std::nullopt;
  }
  run.file = file->shown_name();
  run.host = header.host();
  run.command = CommandOf(header, 0);
  run.program = ProgramOf(header);
  run.end = EndText(facts);
  run.pid = header.pid();
  run.parent_pid = header.parent_pid();
  run.start_ticks = header.process_start_ticks();
  run.parent_start_ticks = header.parent_start_ticks();
  run.forked = header.forked();
  run.untraced_children = facts.footer.value_or(Footer()).untraced_children();
  run.begin_us = header.start_realtime_ns() / 1000;
  run.end_us = run.begin_us + std::min(facts.DurationUs(), kMaxDurationUs);
  run.peak_bytes = static_cast<uint64_t>(WholeNumber(answer.peak_bytes));
  // Times of the run become CLOCK_REALTIME.
  run.steps = curve.Shares(run.forked);
  if (curve.HighestPss() != 0) run.pss_peak_bytes = Highest(run.steps);
  for (MemoryStep& step : run.steps) {
    step.time_us = run.begin_us + std::min(step.time_us, kMaxDurationUs);
  }
  run.top_line = TopLine(answer);
  return run;
}

namespace {

// Shares of the imports' highest bytes at which the time of growth may start.
constexpr double kLoadedShares[] = {0.5, 0.9};
// Growth in a smaller part of the time proves nothing.
constexpr size_t kLeastTimeParts = 4;

uint64_t Bytes(double bytes) {
  return static_cast<uint64_t>(WholeNumber(bytes));
}

// The first moment at which imports have this share of their maximum.
size_t LoadedAt(const PlaceCurves& curves, double share) {
  const auto found = curves.bytes.find(NamedPlace(kImports));
  // No imports were recorded: the process has loaded everything from the start.
  if (found == curves.bytes.end()) return 0;
  const std::vector<double>& bytes = found->second;
  const double most = *std::max_element(bytes.begin(), bytes.end());
  return std::find_if(bytes.begin(), bytes.end(),
                      [=](double now) { return now >= share * most; }) -
         bytes.begin();
}

// The same form as RSS has. A curve leaves out zeros at its end.
std::vector<MemoryStep> StepsOf(const std::vector<double>& bytes,
                                const EvenSteps& steps) {
  std::vector<MemoryStep> found;
  for (size_t i = 0; i < steps.count; ++i) {
    found.push_back(
        {i * steps.step_us, i < bytes.size() ? Bytes(bytes[i]) : 0});
  }
  return found;
}

// The gain from one moment to the last one; 0 if it shrank.
double Gain(const std::vector<double>& bytes, size_t from, size_t count) {
  if (bytes.size() < count) return 0;
  return std::max(bytes[count - 1] - bytes[from], 0.0);
}

// Imports also map files and fragment memory, so RSS grows by more than the
// lines of imports have.
bool StillLoads(double imports, uint64_t growth_bytes) {
  constexpr double kLeastShare = 0.1;
  return imports > kLeastShare * static_cast<double>(growth_bytes);
}

// A worker waits before its first task and after its last one. So a line's time
// starts when it first grows, and ends with its last growth. Each may cut off
// at most a quarter and a tenth of the time, as a full cache waits, too.
uint64_t LineGrowth(const std::vector<double>& bytes, size_t from,
                    const EvenSteps& steps) {
  // The line has nothing at later moments: it was released.
  if (from + 1 >= bytes.size()) return 0;
  const size_t quarter = (steps.count - from) / 4;
  const size_t tenth = (steps.count - from) / 10;
  size_t first = from, last = steps.count;
  while (first < from + quarter && first + 1 < bytes.size() &&
         bytes[first + 1] <= bytes[from]) {
    ++first;
  }
  while (last > steps.count - tenth && last >= 2 && last <= bytes.size() &&
         bytes[last - 1] <= bytes[last - 2]) {
    --last;
  }
  return SteadyGrowth(StepsOf(bytes, steps), first * steps.step_us,
                      last * steps.step_us);
}

// Compares the growth of RSS with that of lines, from one moment on.
ProcessGrowth GrowthFrom(size_t from, const PlaceCurves& curves,
                         const EvenSteps& steps,
                         const std::vector<MemoryStep>& rss) {
  const uint64_t from_us = from * steps.step_us;
  const uint64_t end_us = steps.count * steps.step_us;
  ProcessGrowth growth, steady;
  growth.bytes = SteadyGrowth(rss, from_us, end_us);
  growth.span_us = SteadySpanUs(from_us, end_us);
  double most = 0, of_steady = 0;
  for (const auto& [place, bytes] : curves.bytes) {
    const double gain = Gain(bytes, from, steps.count);
    if (place == NamedPlace(kImports)) {
      // Imports explain a good part of the growth: the process is still
      // loading.
      if (StillLoads(gain, growth.bytes)) growth.bytes = 0;
      continue;
    }
    const uint64_t line_bytes = LineGrowth(bytes, from, steps);
    if (line_bytes > steady.bytes) {
      steady = {line_bytes, LabelOf(place), line_bytes, growth.span_us};
      of_steady = gain;
    }
    if (gain <= most) continue;
    most = gain;
    growth.line = LabelOf(place);
  }
  growth.line_bytes = Bytes(most);
  // A line gained more than RSS did: its blocks reuse memory that was free.
  if (growth.bytes < steady.bytes) return steady;
  // A line's growth in one step does not count.
  if (steady.bytes > 0) {
    growth.line = steady.line;
    growth.line_bytes = Bytes(of_steady);
  }
  return growth;
}

}  // namespace

ProcessGrowth FindGrowth(const PlaceCurves& curves, const EvenSteps& steps,
                         const std::vector<MemoryStep>& rss) {
  ProcessGrowth growth;
  // First from the moment with half of the imports. If the process still loaded
  // then, from nine tenths; but not if too little time is left.
  for (const double share : kLoadedShares) {
    const size_t from = LoadedAt(curves, share);
    if (steps.count - from < steps.count / kLeastTimeParts) break;
    growth = GrowthFrom(from, curves, steps, rss);
    if (growth.bytes != 0) break;
  }
  return growth;
}

}  // namespace pymemrun
