#include <memory>
#include <string>
#include <vector>

#include "readers/answer/beside/recorded_sentences.h"
#include "readers/answer/memory/answer_json.h"
#include "readers/answer/memory/answer_text.h"
#include "readers/answer/next_steps/next_steps.h"
#include "readers/objects/blocks/load_allocations.h"
#include "readers/report/report_command.h"
#include "text/shell_text.h"

namespace pymemrun {
namespace {

constexpr size_t kBriefLines = 3;

class AnswerCommand final : public ReportCommand {
 public:
  AnswerCommand()
      : ReportCommand(
            "report", "the answer on one screen; also without a command",
            "Shows a run's memory: its peak, what the peak consisted of, which "
            "of your lines held it, and what was left at the end.") {}

  void AddOptions(CLI::App* app) override {
    files_.AddOne(app);
    app->add_flag(
        "--brief", brief_,
        "Print only the first lines, as pymemrun does when the program ends.");
    AddOwn(app);
    app->add_flag("--json", json_, "Print JSON.");
    files_.AddOutput(app);
    Refuse(app, "--thread",
           "the answer covers the whole process; heap, resident and top take "
           "--thread");
  }
  std::string OfOneRun() const override { return json_ ? "--json" : ""; }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  bool brief_ = false;
  bool json_ = false;
};

// Children, and what else was recorded.
void AddBeside(const Answer& answer, RereadFile* file, const std::string& path,
               const Console& console, AnswerTextOptions* options) {
  options->also = RecordedSentences(answer.facts, file);
  const ChildRuns children = ReadChildren(path, answer.facts.header, console);
  const Footer footer = answer.facts.footer.value_or(Footer());
  for (const std::string& text :
       {ChildrenText(children, footer.untraced_children()),
        SuccessorText(children, footer)}) {
    if (!text.empty()) options->also.push_back(text);
  }
  if (children.count == 0) return;
  const std::string name = ShellWord(path);
  // These come before the steps of NextSteps(), as only three are shown.
  options->next.push_back(
      {{"pymemreport", "processes", name}, "each process, and all together"});
  if (children.any_unshares) {
    options->next.push_back({{"pymemreport", "unshared", name},
                             "which line un-shared forked memory"});
  }
}

// ReadAnswer() reads the run some three times. Without --brief, other files
// follow: what else was recorded, children, the last dump.
int AnswerCommand::Run(const Console& console, OutputBuffer* output) {
  const auto file = RereadFile::Open(files_.paths[0], console);
  if (file == nullptr) return kExitFailed;
  // The text says what was lost. With JSON a message on standard error does,
  // too.
  if (!json_) file->LeaveLossesToReport();
  const std::unique_ptr<Answer> answer =
      ReadAnswer(file.get(), /*with_curves=*/!json_);
  if (answer == nullptr) return kExitFailed;
  if (json_) {
    output->Append(AnswerJson(*answer));
    return file->code();
  }
  AnswerTextOptions options;
  options.terminal = output->terminal();
  options.brief = brief_;
  if (brief_) options.lines = kBriefLines;
  if (!brief_) {
    const std::string& path = files_.paths[0];
    AddBeside(*answer, file.get(), path, console, &options);
    const std::vector<NextCommand> steps =
        NextSteps(*answer, path, LastDumpOf(path));
    options.next.insert(options.next.end(), steps.begin(), steps.end());
  }
  output->Append(AnswerText(*answer, options));
  if (brief_) PrintGilThreads(answer->facts, file.get(), output);
  return file->code();
}

}  // namespace

std::unique_ptr<ReportCommand> NewAnswerCommand() {
  return std::make_unique<AnswerCommand>();
}

}  // namespace pymemrun
