#include "readers/report/report_command.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "text/terminal_text.h"

namespace pymemrun {

// Old names are a state of the command, as its help and messages use the name.
bool ReportCommand::GoesBy(const std::string& name) {
  if (name == name_) return true;
  for (OldName& old : OldNames()) {
    if (old.name != name) continue;
    about_ = absl::StrCat("Old name of ", name_, old.words.empty() ? "" : " ",
                          absl::StrJoin(old.words, " "), ". ",
                          old.about.empty() ? about_ : old.about);
    name_ = old.name;
    words_ = std::move(old.words);
    return true;
  }
  return false;
}

// Options come before the needs, as a need adds a note to an option's help.
std::unique_ptr<CLI::App> ReportCommand::MakeParser(
    const std::string& program) {
  auto app =
      std::make_unique<CLI::App>(about_, absl::StrCat(program, " ", name_));
  AddOptions(app.get());
  needs_.AddToHelp(app.get());
  return app;
}

// Run() sees one path at a time. Tables for machines become one, with a column
// for the run; text has a heading for each.
int ReportCommand::RunEach(const Console& console, OutputBuffer* output) {
  if (files_.count != 1 || files_.paths.size() == 1) {
    return Run(console, output);
  }
  int code = kExitOk;
  OutputBuffer::Runs& runs = output->runs();
  const std::vector<std::string> paths = files_.paths;
  for (const std::string& path : paths) {
    files_.paths = {path};
    if (!for_machines_) {
      output->AppendLines(absl::StrCat(runs.name.empty() ? "" : "\n",
                                       TerminalText(path), "\n"));
    }
    runs.name = path;
    code = std::max(code, Run(console, output));
  }
  files_.paths = paths;
  EndTables(output);
  return code;
}

}  // namespace pymemrun
