#include "readers/across_runs/processes/process_run.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "readers/output/whole_number.h"
#include "readers/places/place.h"
#include "readers/replay/summary/run_facts.h"

namespace pymemrun {
namespace {

// Whatever a file says.
constexpr uint64_t kMaxDurationUs = uint64_t{1} << 60;
// At which the memory of lines is looked at.
constexpr size_t kSteps = 50;

// What RSS and the share were, at events and at samples.
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
        sample.rss_bytes() == 0 ? sample.pss_rss_bytes() : sample.rss_bytes();
    curve_.Add({sample.time_us(), rss_bytes, sample.pss_bytes(), file_bytes_});
  }
  void OnResidency(const ResidencyView& seen) override {
    if (seen.rss_bytes != 0) curve_.AddRss(seen.time_us, seen.rss_bytes);
  }

 private:
  MemoryCurve& curve_;
  uint64_t file_bytes_ = 0;  // the last that was told
};

// The command line from this word on.
std::string CommandOf(const Header& header, int first_word) {
  if (header.argv_size() <= first_word) {
    return header.script().empty() ? header.python() : header.script();
  }
  return absl::StrJoin(header.argv().begin() + first_word, header.argv().end(),
                       " ");
}

// The program's name, and what it was called with, as far as a line has room.
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

// Of the user's own lines what holds most at its peak.
std::string TopLine(const Answer& answer) {
  for (const PlaceHolding& holding : answer.peak.split.places) {
    if (holding.is_own) return LabelOf(holding.place);
  }
  return "";
}

// The share moves as RSS does from one reading of it to the next, and may be
// higher there than at any.
uint64_t Highest(const std::vector<MemoryStep>& steps) {
  uint64_t bytes = 0;
  for (const MemoryStep& step : steps) bytes = std::max(bytes, step.bytes);
  return bytes;
}

// When the program's own code had ended, of its clock.
uint64_t OwnEndUs(const RunFacts& facts) {
  if (facts.footer.has_value() &&
      facts.footer->finalize() == Footer::FINALIZED) {
    return facts.footer->finalize_us();
  }
  return facts.DurationUs();
}

// False: the file could not be read.
bool FindGrowth(RereadFile* file, const Answer& answer, const MemoryCurve& rss,
                ProcessGrowth* growth) {
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
  run.steps = curve.Shares(run.forked);
  if (curve.HighestPss() != 0) run.pss_peak_bytes = Highest(run.steps);
  for (MemoryStep& step : run.steps) {
    step.time_us = run.begin_us + std::min(step.time_us, kMaxDurationUs);
  }
  run.top_line = TopLine(answer);
  return run;
}

}  // namespace pymemrun
