#include <limits.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "readers/objects/ask/ask_for_dump.h"
#include "readers/options/option_values.h"
#include "readers/replay/moments/moment.h"
#include "readers/report/report_command.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

class ObjectsCommand final : public ReportCommand {
 public:
  ObjectsCommand()
      : ReportCommand(
            "objects", "a dump of a running program's objects",
            "Asks a program that pymemrun traces for a dump of its objects, "
            "waits until it is complete, and prints its path.\n\nThe program "
            "need not have been started with --objects. Its main thread makes "
            "the dump between two instructions; Python's own sleeps and waits "
            "continue afterwards. During a long call into C code, the dump is "
            "made when the call returns. A system call that C code makes on "
            "the main thread may end early, with EINTR. pymemobj reads the "
            "dump.") {}

  void AddOptions(CLI::App* app) override;
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  uint64_t pid_ = 0;
  uint64_t timeout_us_ = 60000000;
};

void ObjectsCommand::AddOptions(CLI::App* app) {
  AddParsed(
      app, "--pid", &pid_,
      [](absl::string_view text) { return ParseNumber(text, 1, INT_MAX); },
      "PID", "The program's process, or a traced child's.")
      ->required();
  AddParsed(app, "--timeout", &timeout_us_, ParseTime, "TIME",
            "Wait at most this long: 90, 500ms, 5m (60s).");
}

// AskForDump() sends the run's collector a signal, and waits until the file is
// complete.
int ObjectsCommand::Run(const Console& console, OutputBuffer* output) {
  const auto dump =
      AskForDump(static_cast<pid_t>(pid_), absl::Microseconds(timeout_us_));
  if (!dump.ok()) {
    console.Say(absl::StrCat(pid_, ": ", dump.status().message()));
    return kExitFailed;
  }
  output->Append(absl::StrCat(
      TerminalText(dump->path), ": ", Counted(dump->objects, "object"), ", ",
      HumanBytes(static_cast<double>(dump->file_bytes)),
      ", the program paused ", HumanSeconds(dump->pause_us),
      ", complete after ", HumanSeconds(dump->duration_us), "\n"));
  return kExitOk;
}

}  // namespace

std::unique_ptr<ReportCommand> NewObjectsCommand() {
  return std::make_unique<ObjectsCommand>();
}

}  // namespace pymemrun
