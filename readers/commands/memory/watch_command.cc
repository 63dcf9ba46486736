#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "readers/report/report_command.h"
#include "readers/watch/traced_process.h"
#include "readers/watch/watch.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

class WatchCommand final : public ReportCommand {
 public:
  WatchCommand()
      : ReportCommand(
            "watch", "a run in progress",
            "Shows RSS, your lines that grow, threads and children while a run "
            "is going on. `watch -- SCRIPT` starts one.\n\nIt reads the run "
            "file, so you can quit and restart it; the program is not "
            "affected. Everything after -- is passed to pymemrun. If output is "
            "not a terminal, it prints a line every second until the run "
            "ends.") {}

  void AddOptions(CLI::App* app) override;
  std::vector<std::string> Prepared(
      std::vector<std::string> arguments) const override;
  std::string Problem() const override;
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  std::vector<std::string> program_;
  bool once_ = false;
};

void WatchCommand::AddOptions(CLI::App* app) {
  app->add_option("FILE", files_.paths,
                  "A run file, or the number of a traced process.")
      ->option_text("FILE|PID");
  // Hidden: it carries the words after "--", see Prepared().
  app->add_option("--program", program_)->group("")->allow_extra_args(false);
  app->add_flag("--once", once_, "Print the current state, then exit.");
  AddOwn(app);
}

// What stands behind -- is another program's: none of our options.
std::vector<std::string> WatchCommand::Prepared(
    std::vector<std::string> arguments) const {
  auto word = std::find(arguments.begin(), arguments.end(), "--");
  if (word == arguments.end()) return arguments;
  word = arguments.erase(word);
  for (; word != arguments.end(); ++word) {
    *word = absl::StrCat("--program=", *word);
  }
  return arguments;
}

// Exactly one of FILE, PID and a program. A pipe cannot be read again from its
// start.
std::string WatchCommand::Problem() const {
  const bool starts = !program_.empty();
  if (files_.paths.size() + (starts ? 1 : 0) != 1 ||
      (!starts && files_.paths[0] == "-")) {
    return "expected one run file, or the number of a process, or -- and a "
           "script";
  }
  return starts && once_ ? "--once needs a run that has started" : "";
}

// A number is a process, unless a file has that name. The report's output is
// not used: WatchRun() draws on the terminal.
int WatchCommand::Run(const Console& console, OutputBuffer*) {
  // Asked again: a folder may have become several files.
  if (files_.paths.size() + (program_.empty() ? 0 : 1) != 1) {
    console.Usage("expected one run file, or a folder with one");
    return kExitUsage;
  }
  WatchRequest request;
  request.once = once_;
  std::unique_ptr<StartedRun> started;
  if (!program_.empty()) {
    auto run = StartedRun::Start(program_);
    if (!run.ok()) {
      console.Say(run.status().message());
      return kExitFailed;
    }
    started = *std::move(run);
    request.started = started.get();
    request.path = started->run_path();
    return WatchRun(request, console);
  }
  request.path = files_.paths[0];
  pid_t pid = 0;
  if (absl::SimpleAtoi(request.path, &pid) && pid > 0 &&
      access(request.path.c_str(), F_OK) != 0) {
    auto path = RunFileOf(pid);
    if (!path.ok()) {
      console.Say(absl::StrCat(pid, ": ", path.status().message()));
      return kExitFailed;
    }
    request.path = *std::move(path);
  }
  return WatchRun(request, console);
}

}  // namespace

std::unique_ptr<ReportCommand> NewWatchCommand() {
  return std::make_unique<WatchCommand>();
}

}  // namespace pymemrun
