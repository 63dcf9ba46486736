#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/calls/call_replay.h"
#include "readers/chart/line_chart.h"
#include "readers/chart/svg_chart.h"
#include "readers/heap/heap_history.h"
#include "readers/heap_in_rss/heap_timeline.h"
#include "readers/moments/moment_reading.h"
#include "readers/options/help_text.h"
#include "readers/options/option_values.h"
#include "readers/output/table.h"
#include "readers/report/call_attribution.h"
#include "readers/report/peak_options.h"
#include "readers/report/report_command.h"
#include "readers/resident/resident_table.h"
#include "readers/resident/timeline.h"
#include "readers/thread_graph/thread_graph.h"
#include "readers/threads/thread_curves.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

class GraphCommand final : public ReportCommand {
 public:
  GraphCommand()
      : ReportCommand(
            "graph", "memory of each thread over time, as a picture",
            "Draws a line for each thread, what it brought less what it gave "
            "back, and one for the process. Peaks have the numbers of "
            "`pymemreport peaks`; of more than 24 the largest of each 24th of "
            "the time are shown. Where no calls are known the highest points "
            "are "
            "numbered.\n\nGrowth is by page faults. Where "
            "pages were not seen to come, the lines are each thread's live "
            "heap. Without heap events either, they are what RSS changed by "
            "at a thread's own events.") {}

  void AddOptions(CLI::App* app) override;
  std::string OfOneRun() const override { return "a graph"; }
  std::string NotForTerminal() const override { return csv_ ? "" : "pictures"; }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  static constexpr uint64_t kUsualTop = 8;
  static constexpr uint64_t kMostPeaks = 1000;  // their legend has a row each

  // What was read; nothing: that cannot be, or the run does not tell.
  enum class Result { kRead, kNothing, kFailed };
  Result Read(RereadFile* file, const RunMoments& finder,
              const MomentRange& range, ThreadGraph* graph) const;
  Result ReadEvents(GrowthBy by, RereadFile* file, const RunMoments& finder,
                    const MomentRange& range, ThreadGraph* graph) const;
  Result ReadHeap(RereadFile* file, const RunMoments& finder,
                  const MomentRange& range, ThreadGraph* graph) const;
  Result Complete(RereadFile* file, const RunMoments& finder,
                  const MomentRange& range, const RunIndex& index,
                  ThreadGraph* graph) const;
  bool FindPeaks(RereadFile* file, const MomentRange& range,
                 ThreadGraph* graph) const;
  size_t top() const { return top_.value_or(kUsualTop); }

  std::optional<uint64_t> top_;     // threads with a line of their own
  std::optional<uint64_t> rebase_;  // nothing: to be chosen
  std::optional<Moment> from_, to_;
  PeakOptions peaks_;
  size_t most_peaks_ = 24;
  CallAttribution attribution_;
  bool csv_ = false;
};

absl::StatusOr<std::optional<uint64_t>> ParseRebase(absl::string_view text) {
  if (text == "auto") return std::optional<uint64_t>();
  const absl::StatusOr<uint64_t> bytes = ParseBytes(text);
  if (bytes.ok()) return std::optional<uint64_t>(*bytes);
  return Expected("auto or a size such as 30M", text);
}

void GraphCommand::AddOptions(CLI::App* app) {
  files_.AddOne(app);
  AddTop(app, &top_, kUsualTop,
         "Draw a line for each of the N threads with the highest peaks");
  AddParsed(app, "--rebase", &rebase_, ParseRebase, "SIZE",
            "Draw RSS less SIZE, so that the threads are not flat beside it: "
            "auto (default; the lowest RSS that is shown), or a size.");
  AddParsed(app, "--from", &from_, ParseMoment, "T",
            "Begin at this moment, named as --at T names it.");
  AddParsed(app, "--to", &to_, ParseMoment, "T", "End at this moment.");
  peaks_.AddRule(app);
  AddParsed(
      app, "--peaks", &most_peaks_,
      [](absl::string_view text) { return ParseNumber(text, 1, kMostPeaks); },
      "N", "Number at most N peaks (24), 1000 at most.");
  attribution_.Add(app);
  app->add_flag("--csv", csv_, "Print CSV: a row for each moment.");
  files_.AddOutput(app);
  SetUsualOptions(app,
                  {"--top", "--rebase", "--from", "--to", "--csv", "--output"});
}

GraphCommand::Result GraphCommand::ReadEvents(GrowthBy by, RereadFile* file,
                                              const RunMoments& finder,
                                              const MomentRange& range,
                                              ThreadGraph* graph) const {
  const uint64_t from_us = range.from_us;
  const uint64_t peak_us = std::max(finder.RssPeak().time_us, from_us);
  std::vector<uint64_t> time_us =
      TimelineSteps(range.to_us - from_us, peak_us - from_us);
  for (uint64_t& moment_us : time_us) moment_us += from_us;
  ThreadCurvesReplay all(by, time_us, {}, finder.hindsight());
  if (!file->Read(&all)) return Result::kFailed;
  if (by == GrowthBy::kEvents && !all.any_row()) return Result::kNothing;
  ThreadFilter threads(peaks_.choice.thread, &all.index());
  ThreadCurvesReplay replay(by, std::move(time_us),
                            all.Largest(top(), &threads), finder.hindsight());
  if (!file->Read(&replay)) return Result::kFailed;
  graph->curves = replay.Result();
  graph->meaning =
      by == GrowthBy::kFaults
          ? "pages that each brought, less those that its calls gave back"
          : "what RSS changed by at each one's events, whoever did it";
  if (by == GrowthBy::kFaults && replay.header().page_weight() > 1) {
    absl::StrAppend(&graph->meaning,
                    "; estimated: ", SampledText(replay.header()));
  }
  return Complete(file, finder, range, replay.index(), graph);
}

GraphCommand::Result GraphCommand::ReadHeap(RereadFile* file,
                                            const RunMoments& finder,
                                            const MomentRange& range,
                                            ThreadGraph* graph) const {
  HeapHistoryOptions options;
  options.by = GroupBy::kThread;
  options.with_errors = true;
  options.threads = peaks_.choice.thread;
  options.from_us = range.from_us;
  options.to_us = range.to_us;
  HeapHistoryReplay replay(options);
  if (!file->Read(&replay)) return Result::kFailed;
  if (!replay.has_heap_events()) return Result::kNothing;
  graph->curves = CurvesOf(replay.Result(top()));
  graph->meaning =
      absl::StrCat("live heap that each allocated, whoever frees it",
                   replay.sampled() ? "; estimated from samples" : "");
  return Complete(file, finder, range, replay.index(), graph);
}

// "Thread-6 > main.py:44 run"; the file without its folders.
std::string PeakText(const EndedCall& peak, const RunIndex& index) {
  const SourceLocation where = index.Resolve(peak.site);
  return absl::StrCat(index.ThreadName(index.LatestThread(peak.thread)), " > ",
                      where.file.substr(where.file.rfind('/') + 1), ":",
                      where.line, " ", where.function);
}

// Those of `pymemreport peaks` in the range. False: nothing could be read.
bool GraphCommand::FindPeaks(RereadFile* file, const MomentRange& range,
                             ThreadGraph* graph) const {
  if (!CallReplay::MayKnow(graph->header)) return true;
  PeakReplay replay(peaks_.rule, peaks_.choice);
  attribution_.Give(&replay);
  if (!file->Read(&replay)) return false;
  graph->knows_calls = replay.any();
  graph->counts_others = !attribution_.by_thread() && replay.threads_seen() > 1;
  size_t number = 0;
  for (const EndedCall& call : replay.Peaks()) {
    ++number;
    if (call.time_us < range.from_us || call.time_us > range.to_us) continue;
    const RunIndex& index = replay.index();
    graph->peaks.push_back({number, call.time_us,
                            std::string(index.LatestThreadLabel(call.thread)),
                            call.charged_bytes, PeakText(call, index)});
  }
  ThinPeaks(range.from_us, range.to_us, most_peaks_, &graph->peaks);
  return true;
}

GraphCommand::Result GraphCommand::Complete(RereadFile* file,
                                            const RunMoments& finder,
                                            const MomentRange& range,
                                            const RunIndex& index,
                                            ThreadGraph* graph) const {
  RssAtMoments rss(graph->curves.time_us, finder.hindsight());
  if (!file->Read(&rss)) return Result::kFailed;
  graph->header = rss.header();
  graph->rss_bytes = rss.rss_bytes();
  const auto& bytes = graph->rss_bytes;
  const uint64_t lowest =
      bytes.empty() ? 0 : *std::min_element(bytes.begin(), bytes.end());
  graph->rebase_bytes = rebase_.value_or(lowest);
  if (csv_) return Result::kRead;
  if (!FindPeaks(file, range, graph)) return Result::kFailed;
  if (!graph->knows_calls) {
    graph->peaks =
        HighestPoints(graph->curves, graph->rss_bytes, index, most_peaks_);
  }
  return Result::kRead;
}

// By the best that the run has.
GraphCommand::Result GraphCommand::Read(RereadFile* file,
                                        const RunMoments& finder,
                                        const MomentRange& range,
                                        ThreadGraph* graph) const {
  if (attribution_.is_observed()) {
    return ReadEvents(GrowthBy::kEvents, file, finder, range, graph);
  }
  if (finder.has_page_events() && !finder.by_scan()) {
    return ReadEvents(GrowthBy::kFaults, file, finder, range, graph);
  }
  const Result heap = ReadHeap(file, finder, range, graph);
  if (heap != Result::kNothing) return heap;
  return ReadEvents(GrowthBy::kEvents, file, finder, range, graph);
}

int GraphCommand::Run(const Console& console, OutputBuffer* output) {
  const auto file = RereadFile::Open(files_.paths[0], console);
  if (file == nullptr) return kExitFailed;
  if (!attribution_.Read(file.get(), console)) return kExitUsage;
  auto finder = RunMoments::Of(ReadingOf(file.get()));
  if (finder == nullptr) return kExitFailed;
  ThreadFilter threads(peaks_.choice.thread, &finder->index());
  if (SayNoThread(&threads, file->shown_name(), console)) return kExitUsage;
  int code = kExitOk;
  MomentRange range;
  if (!FindRange(from_, to_, file.get(), console, &finder, &range, &code)) {
    return code;
  }
  range.to_us = std::min(range.to_us, std::max(finder->EndUs(), uint64_t{1}));
  if (range.from_us >= range.to_us) {
    console.Say(
        absl::StrCat(file->shown_name(), ": the run ended before --from"));
    return kExitUsage;
  }
  ThreadGraph graph;
  switch (Read(file.get(), *finder, range, &graph)) {
    case Result::kFailed:
      return kExitFailed;
    case Result::kNothing:
      console.Say(absl::StrCat(file->shown_name(),
                               ": has neither page faults nor heap events nor "
                               "events of calls: nobody saw which thread took "
                               "memory"));
      return file->whole() ? kExitUsage : file->code();
    case Result::kRead:
      break;
  }
  if (csv_) {
    PrintTable(GraphTable(graph), TableFormat::kCsv, output);
  } else {
    PrintSvg(GraphChart(graph), output);
  }
  return file->code();
}

}  // namespace

std::unique_ptr<ReportCommand> NewGraphCommand() {
  return std::make_unique<GraphCommand>();
}

}  // namespace pymemrun
