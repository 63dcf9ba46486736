#include "readers/report/report_command.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "text/terminal_text.h"

namespace pymemrun {

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
