#include <memory>
#include <optional>
#include <string>

#include "readers/export/profiles/heap_formats.h"
#include "readers/export/traces/write_trace.h"
#include "readers/options/option_values.h"
#include "readers/replay/heap/heap_stacks.h"
#include "readers/replay/moments/moment_reading.h"
#include "readers/report/report_command.h"

namespace pymemrun {
namespace {

class ExportCommand final : public ReportCommand {
 public:
  ExportCommand()
      : ReportCommand(
            "export",
            "a run for Perfetto, Chrome, pprof, speedscope and others",
            "Writes what is alive at a moment for pprof, speedscope and "
            "Graphviz, or the run over time for Perfetto and Chrome.\n\nA "
            "timeline has RSS, live heap by line, marks, and what was recorded "
            "of the GIL and of threads' states. It has calls of at least "
            "--min-duration if every event was logged or RETURNs know their "
            "CALLs. For Perfetto it also has the last dump of the object graph "
            "beside the run. Time 0 is the start of the run.") {}

  void AddOptions(CLI::App* app) override {
    needs_.AddWith("--format pprof|collapsed|speedscope|dot", Recorded::kHeap);
    files_.AddOne(app);
    AddMoment(app, &at_);
    AddParsed(app, "--min-duration", &min_us_, ParseTime, "TIME",
              "Leave calls, holds and states shorter than this out of a "
              "timeline: 500us, 1ms (default), 2s; 0 keeps all.");
    AddChoice<Format>(
        app, "--format", &format_,
        {{"pprof", Format::kPprof},
         {"collapsed", Format::kCollapsed},
         {"speedscope", Format::kSpeedscope},
         {"dot", Format::kDot},
         {"perfetto", Format::kPerfetto},
         {"chrome", Format::kChrome}},
        "FORMAT",
        "Write pprof (default), collapsed (frame;frame;frame "
        "bytes), speedscope or dot (a graph of callers and callees, "
        "for Graphviz). Timelines are perfetto and chrome (Trace "
        "Event JSON).");
    files_.AddOutput(app);
    // A timeline has all moments.
    Exclude(app, {"--format perfetto|chrome"}, {"--at"});
    Need(app, {"--min-duration"}, "--format perfetto|chrome");
    Refuse(app, "--thread",
           "a profile covers the whole process; heap --as tree and flame take "
           "--thread");
  }
  std::string OfOneRun() const override { return "a profile"; }
  std::string NotForTerminal() const override {
    return format_ == Format::kPprof      ? "pprof files"
           : format_ == Format::kPerfetto ? "traces"
                                          : "";
  }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  enum class Format {
    kPprof,
    kCollapsed,
    kSpeedscope,
    kDot,
    kPerfetto,
    kChrome,
  };

  bool is_timeline() const {
    return format_ == Format::kPerfetto || format_ == Format::kChrome;
  }

  std::optional<Moment> at_;        // nothing: the peak
  std::optional<uint64_t> min_us_;  // nothing: 1 ms
  Format format_ = Format::kPprof;
};

// Timelines are written while the run is read. Profiles are of one moment: they
// are made in memory.
int ExportCommand::Run(const Console& console, OutputBuffer* output) {
  if (is_timeline()) {
    TraceOptions options;
    options.as_json = format_ == Format::kChrome;
    options.min_us = min_us_.value_or(options.min_us);
    return WriteTrace(files_.paths[0], options, console, output);
  }
  int code = kExitOk;
  // The exporters ask the replay for its first moment, which is this one.
  const auto read =
      ReadHeapAt(files_.paths[0], at_.value_or(Moment()), console, &code);
  if (read == nullptr) return code;
  const HeapMoments& replay = *read;
  switch (format_) {
    case Format::kPprof: {
      const std::string profile = PprofProfile(replay);
      if (profile.empty()) {
        console.Say("the profile has more than the 2 GiB that pprof can read");
        return kExitFailed;
      }
      output->Append(Gzipped(profile));
      break;
    }
    case Format::kSpeedscope:
      output->Append(SpeedscopeJson(replay));
      break;
    case Format::kDot:
      output->Append(CallGraphDot(replay));
      break;
    case Format::kCollapsed:
      HeapTree(GroupBy::kLine, replay).PrintCollapsed(output);
      break;
    case Format::kPerfetto:
    case Format::kChrome:
      break;  // not profiles, see above
  }
  return code;
}

}  // namespace

std::unique_ptr<ReportCommand> NewExportCommand() {
  return std::make_unique<ExportCommand>();
}

}  // namespace pymemrun
