#include <memory>
#include <string>

#include "readers/export/pprof_profile.h"
#include "readers/export/speedscope.h"
#include "readers/heap/heap_stacks.h"
#include "readers/moments/moment_reading.h"
#include "readers/options/option_values.h"
#include "readers/report/report_command.h"

namespace pymemrun {
namespace {

class ExportCommand final : public ReportCommand {
 public:
  ExportCommand()
      : ReportCommand(
            "export", "live bytes at a moment for pprof, speedscope and others",
            "Writes what is alive at a moment, and what was allocated, for "
            "other tools. It needs a run with heap events.") {}

  void AddOptions(CLI::App* app) override {
    files_.AddOne(app);
    AddMoment(app, &at_);
    AddChoice<Format>(app, "--format", &format_,
                      {{"pprof", Format::kPprof},
                       {"collapsed", Format::kCollapsed},
                       {"speedscope", Format::kSpeedscope}},
                      "FORMAT",
                      "Write pprof (default), collapsed (frame;frame;frame "
                      "bytes), or speedscope.");
    files_.AddOutput(app);
    Refuse(app, "--thread",
           "a profile is of the whole process; tree and flame take --thread");
  }
  std::string OfOneRun() const override { return "a profile"; }
  std::string NotForTerminal() const override {
    return format_ == Format::kPprof ? "pprof files" : "";
  }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  enum class Format { kPprof, kCollapsed, kSpeedscope };

  Moment at_;
  Format format_ = Format::kPprof;
};

int ExportCommand::Run(const Console& console, OutputBuffer* output) {
  int code = kExitOk;
  const auto read = ReadHeapAt(files_.paths[0], at_, console, &code);
  if (read == nullptr) return code;
  const HeapMoments& replay = *read;
  switch (format_) {
    case Format::kPprof:
      output->Append(Gzipped(PprofProfile(replay)));
      break;
    case Format::kSpeedscope:
      output->Append(SpeedscopeJson(replay));
      break;
    case Format::kCollapsed:
      HeapStacks stacks(GroupBy::kLine, &replay);
      stacks.Add(replay.SumsAt(0), nullptr);
      stacks.PrintCollapsed(output);
      break;
  }
  return code;
}

}  // namespace

std::unique_ptr<ReportCommand> NewExportCommand() {
  return std::make_unique<ExportCommand>();
}

}  // namespace pymemrun
