#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/calls/call_replay.h"
#include "readers/calls/peak_choice.h"
#include "readers/report/peak_options.h"
#include "readers/report/report_command.h"
#include "readers/run/reread_file.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

class PeaksCommand final : public ReportCommand {
 public:
  PeaksCommand()
      : ReportCommand(
            "peaks", "the calls that changed RSS most, in order of time",
            "Lists calls that changed RSS between their CALL and their RETURN: "
            "thread, file, line of the RETURN, function, bytes. Of those that "
            "are near to each other it shows the first.\n\nA change counts "
            "also for the callers. RSS is the process's: what other threads "
            "did meanwhile is in it. Where page faults were recorded CSV and "
            "JSON also say what the call's own thread did. It needs a run "
            "that logged each event, or calls by their growth.") {}

  void AddOptions(CLI::App* app) override {
    files_.AddOne(app);
    peaks_.Add(app);
    table_.Add(app, 0, ": a row for each peak");
    files_.AddOutput(app);
  }
  std::string Problem() const override { return table_.Problem(); }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  PeakOptions peaks_;
  TableOptions table_;
};

Table PeakTable(const std::vector<EndedCall>& peaks, const PeakReplay& replay,
                absl::string_view prefix) {
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
                    {"thread_growth_bytes", "by thread", CellLook::kBytes}};
  for (const EndedCall& peak : peaks) {
    const SourceLocation where = index.Resolve(peak.site);
    table.rows.push_back(
        {uint64_t{table.rows.size() + 1},
         static_cast<double>(peak.time_us) * 1e-6,
         std::string(index.ThreadLabel(peak.thread)),
         std::string(WithoutPrefix(where.file, prefix)), uint64_t{where.line},
         std::string(where.code_name), peak.growth_bytes,
         static_cast<double>(peak.took_us) * 1e-6, peak.number,
         peak.call_number(), replay.ThreadCell(peak.thread_bytes)});
  }
  table.places = table.rows.size();
  return table;
}

// How many peaks other threads have caused for the most part.
size_t OthersPeaks(const std::vector<EndedCall>& peaks) {
  return std::count_if(peaks.begin(), peaks.end(), [](const EndedCall& peak) {
    const auto growth = static_cast<double>(peak.growth_bytes);
    const auto by_thread = static_cast<double>(peak.thread_bytes);
    return std::abs(growth - by_thread) > std::abs(growth) / 2;
  });
}

int PeaksCommand::Run(const Console& console, OutputBuffer* output) {
  const auto file = RereadFile::Open(files_.paths[0], console);
  if (file == nullptr) return kExitFailed;
  PeakReplay replay(peaks_.rule);
  const auto threads = ThreadDrss::Read(file.get());
  replay.SetThreads(threads.get());
  if (!file->Read(&replay)) return kExitFailed;
  if (!replay.any()) {
    console.Say(absl::StrCat(file->shown_name(), ": ", replay.WhyNone()));
    return file->whole() ? kExitUsage : file->code();
  }
  std::vector<EndedCall> peaks = replay.Peaks();
  const uint64_t limit = table_.limit();
  if (limit != 0 && peaks.size() > limit) peaks.resize(limit);
  if (!table_.as_text()) {
    PrintTable(PeakTable(peaks, replay, peaks_.prefix), table_.format(),
               output);
    return file->code();
  }
  for (size_t i = 0; i < peaks.size(); ++i) {
    output->Append(absl::StrCat(
        TerminalText(PeakLine(i + 1, peaks[i], replay.index(), peaks_.prefix)),
        "\n"));
  }
  const size_t others = threads != nullptr ? OthersPeaks(peaks) : 0;
  if (others > 0) {
    console.Say(absl::StrCat(
        file->shown_name(), ": in ", others, " of ",
        Counted(peaks.size(), "peak"),
        " other threads moved most of RSS; --csv has each thread's own part"));
  }
  if (peaks.empty()) {
    console.Say(absl::StrCat(file->shown_name(),
                             ": no call changed RSS by more than ",
                             HumanBytes(peaks_.rule.min_bytes)));
  }
  return file->code();
}

}  // namespace

std::unique_ptr<ReportCommand> NewPeaksCommand() {
  return std::make_unique<PeaksCommand>();
}

}  // namespace pymemrun
