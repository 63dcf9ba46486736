#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/calls/call_replay.h"
#include "readers/calls/peak_choice.h"
#include "readers/options/help_text.h"
#include "readers/report/call_attribution.h"
#include "readers/report/peak_options.h"
#include "readers/report/range_options.h"
#include "readers/report/report_command.h"
#include "readers/run/reread_file.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Numbers are those of the whole run.
struct NumberedPeak {
  size_t number;
  EndedCall call;
};

class PeaksCommand final : public ReportCommand {
 public:
  PeaksCommand()
      : ReportCommand(
            "peaks", "the calls that changed RSS most, in order of time",
            "Lists calls that changed RSS between their CALL and their RETURN: "
            "thread, file, line of the RETURN, function, bytes. Of those that "
            "are near to each other it shows the first.\n\nA change counts "
            "also for the callers. Where page faults were recorded it is what "
            "the call's own thread did, else what the process did meanwhile. "
            "It needs a run that logged each event, or calls by their "
            "growth.") {}

  void AddOptions(CLI::App* app) override {
    files_.AddOne(app);
    peaks_.Add(app);
    range_.Add(app);
    attribution_.Add(app);
    table_.Add(app, 0, ": a row for each peak");
    files_.AddOutput(app);
    SetUsualOptions(app, {"--min", "--min-time", "--min-value",
                          "--strip-prefix", "--csv", "--json", "--output"});
  }
  std::string Problem() const override { return table_.Problem(); }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  void Print(const std::vector<NumberedPeak>& peaks, const PeakReplay& replay,
             OutputBuffer* output) const;

  PeakOptions peaks_;
  RangeOptions range_;
  CallAttribution attribution_;
  TableOptions table_;
};

Table PeakTable(const std::vector<NumberedPeak>& peaks,
                const PeakReplay& replay, absl::string_view prefix) {
  const RunIndex& index = replay.index();
  Table table;
  table.headings = {{"peak", "peak"},
                    {"clock_s", "time"},
                    {"thread", "thread", CellLook::kName},
                    {"file", "file", CellLook::kName},
                    {"line", "line"},
                    {"function", "function", CellLook::kName},
                    {"growth_bytes", "growth", CellLook::kBytes},
                    {"call_s", "seconds"},
                    {"event", "event"},
                    {"call_event", "call"},
                    {"thread_growth_bytes", "by thread", CellLook::kBytes},
                    {"unix_s", ""}};
  for (const auto& [number, peak] : peaks) {
    const SourceLocation where = index.Resolve(peak.site);
    table.rows.push_back(
        {uint64_t{number}, static_cast<double>(peak.time_us) * 1e-6,
         std::string(index.LatestThreadLabel(peak.thread)),
         std::string(WithoutPrefix(where.file, prefix)), uint64_t{where.line},
         std::string(where.function), peak.growth_bytes,
         static_cast<double>(peak.took_us) * 1e-6, peak.number,
         peak.call_number(), replay.ThreadCell(peak.thread_bytes),
         replay.UnixCell(peak.time_us)});
  }
  table.places = table.rows.size();
  return table;
}

void PeaksCommand::Print(const std::vector<NumberedPeak>& peaks,
                         const PeakReplay& replay, OutputBuffer* output) const {
  if (!table_.as_text()) {
    PrintTable(PeakTable(peaks, replay, peaks_.prefix), table_.format(),
               output);
    return;
  }
  for (const auto& [number, peak] : peaks) {
    output->Append(absl::StrCat(
        TerminalText(PeakLine(number, peak, replay.index(), peaks_.prefix)),
        "\n"));
  }
}

int PeaksCommand::Run(const Console& console, OutputBuffer* output) {
  const auto file = RereadFile::Open(files_.paths[0], console);
  if (file == nullptr) return kExitFailed;
  PeakReplay replay(peaks_.rule, peaks_.choice);
  if (!attribution_.Read(file.get(), console)) return kExitUsage;
  attribution_.Give(&replay);
  if (!file->Read(&replay)) return kExitFailed;
  if (!replay.any()) {
    console.Say(absl::StrCat(file->shown_name(), ": ", replay.WhyNone()));
    return file->whole() ? kExitUsage : file->code();
  }
  if (SayNoThread(replay.threads(), file->shown_name(), console)) {
    return kExitUsage;
  }
  MomentRange range;
  int code = kExitUsage;
  if (range_.any() && !range_.Find(file.get(), console, &range, &code)) {
    return code;
  }
  const uint64_t limit = table_.limit();
  std::vector<NumberedPeak> peaks;
  size_t number = 0;
  for (const EndedCall& call : replay.Peaks()) {
    ++number;
    if (call.time_us < range.from_us || call.time_us > range.to_us) continue;
    if (limit == 0 || peaks.size() < limit) peaks.push_back({number, call});
  }
  if (!peaks.empty()) attribution_.SayWhatCounts(replay, *file, console);
  Print(peaks, replay, output);
  if (peaks.empty() && table_.as_text()) {
    console.Say(absl::StrCat(
        file->shown_name(), ": no call changed RSS by more than ",
        HumanBytes(peaks_.rule.min_bytes), number == 0 ? "" : " then"));
  }
  return file->code();
}

}  // namespace

std::unique_ptr<ReportCommand> NewPeaksCommand() {
  return std::make_unique<PeaksCommand>();
}

}  // namespace pymemrun
