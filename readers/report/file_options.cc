#include "readers/report/file_options.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "readers/options/help_text.h"
#include "readers/options/option_values.h"
#include "readers/run/follow_watch.h"
#include "readers/run/run_files.h"

namespace pymemrun {

void FileOptions::Add(CLI::App* app, const char* usage, const char* help) {
  app->add_option("FILE", paths, help)->required()->option_text(usage);
}

// One FILE is what Run() takes; several are reported one after the other, see
// ReportCommand::RunEach().
void FileOptions::AddOne(CLI::App* app) {
  count = 1;
  Add(app, "FILE...", "Run files, or folders; - reads standard input.");
  AddPid(app);
}

void FileOptions::AddTwo(CLI::App* app) {
  count = 2;
  Add(app, "OLD NEW", "Two run files; - reads standard input.");
}

void FileOptions::AddSeveral(CLI::App* app) {
  Add(app, "FILE...", "Run files, or folders; - reads standard input.");
  AddPid(app);
}

void FileOptions::AddOutput(CLI::App* app) {
  app->add_option("-o,--output", output,
                  "Write to PATH instead of standard output. An existing file "
                  "is replaced only if all went well.")
      ->option_text("PATH");
  AddChoice<ColorMode>(
      app, "--color", &colors,
      {{"auto", ColorMode::kAuto},
       {"always", ColorMode::kAlways},
       {"never", ColorMode::kNever}},
      "WHEN",
      "Print colours: auto (default; on a terminal, unless $NO_COLOR is set), "
      "always or never.");
}

void FileOptions::AddPid(CLI::App* app) {
  AddParsed(
      app, "--pid", &pid,
      [](absl::string_view text) { return ParseNumber(text, 1, INT_MAX); },
      "PID",
      "Read only the run file of this process: one of several FILEs, or a file "
      "beside the one FILE.")
      ->group(kMoreOptions);
}

// Reads only the headers. A file that cannot be opened has pid 0 here.
std::string FileOptions::KeepProcess() {
  if (pid == 0) return "";
  std::vector<std::string> kept;
  std::set<uint64_t> known;
  // A single path stands for its children's files, too.
  for (const std::string& path :
       paths.size() == 1 ? WithChildren(paths[0]) : paths) {
    if (path == "-") return "--pid does not go with standard input (-)";
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const uint64_t found = HeaderOf(fd).pid();
    close(fd);
    if (found == pid) kept.push_back(path);
    if (found != 0) known.insert(found);
  }
  if (known.empty()) return "";  // what is wrong is said when they are read
  if (kept.empty()) {
    return absl::StrCat("--pid: expected ", absl::StrJoin(known, ", "),
                        ", found ", pid);
  }
  paths = kept;
  return "";
}

std::vector<std::string> FileOptions::All() const {
  std::vector<std::string> all = paths;
  if (!compared.empty()) all.push_back(compared);
  return all;
}

// Asked twice, before folders become files and after.
std::string FileOptions::Problem() const {
  if (count == 2 && paths.size() != 2) {
    return absl::StrCat("takes two files, OLD and NEW, found ", paths.size());
  }
  const std::vector<std::string> all = All();
  if (std::count(all.begin(), all.end(), "-") > 1) {
    return "standard input (-) can be read once only";
  }
  return "";
}

}  // namespace pymemrun
