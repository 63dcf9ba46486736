#include "launcher/python/python_choice.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "launcher/python/python_files.h"

namespace pymemrun {
namespace {

bool IsDirectory(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

std::string OnPath(const std::string& name, const std::string& path) {
  size_t start = 0;
  while (start <= path.size()) {
    size_t colon = path.find(':', start);
    if (colon == std::string::npos) colon = path.size();
    std::string folder = path.substr(start, colon - start);
    std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (IsRegularFile(candidate) && access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
    start = colon + 1;
  }
  return {};
}

const std::string kIsPython = " is Python ";

// Why this interpreter may not take the place of `file`, whose extension
// modules are those of its own version; empty: it may. Debian's upgrades leave
// environments behind that state an older 3.11.x; they lead to the interpreter
// that we are all the same, which the folder of the library tells.
std::string WhyNotEmbedded(const std::string& file, const PythonWishes& wishes,
                           const std::string& version) {
  if (version.empty()) return ": nothing is embedded";
  const std::string ours = VersionNumbers(version, 2);
  std::string found = PythonVersionOf(file);
  if (found.empty()) return ": its version is unknown";
  if (found != ours) return kIsPython + found;
  const std::string library = StandardLibraryOf(file, ours);
  if (!library.empty() && library == StandardLibraryOf(wishes.built_in, ours)) {
    return {};
  }
  found = ExactVersionOf(file, ours);
  if (found == VersionNumbers(version, 3)) return {};
  return found.empty() ? ": patchlevel.h is missing" : kIsPython + found;
}

// Settles how `choice` runs.
bool Settle(const std::string& wished_by, const PythonWishes& wishes,
            const std::string& version, Delivery delivery, PythonChoice* choice,
            std::string* error) {
  const std::string& file = choice->file;
  if (!IsRegularFile(file) || access(file.c_str(), X_OK) != 0) {
    *error = wished_by + " is not an executable Python";
    return false;
  }
  const std::string why = WhyNotEmbedded(file, wishes, version);
  const bool refused = delivery == Delivery::kEmbed && !why.empty();
  const bool is_known = why.starts_with(kIsPython);
  if (!IsInterpreter(file) && !(refused && is_known)) {
    *error = wished_by + " is not a Python interpreter";
    return false;
  }
  choice->embedded = delivery != Delivery::kPreload && why.empty();
  if (refused)
    *error = wished_by + why + "; this pymemrun runs Python " + version;
  return !refused;
}

// The interpreter that the script's first line names by its path.
std::string InterpreterOf(const std::string& script) {
  char begin[1024];
  const int fd =
      IsRegularFile(script) ? open(script.c_str(), O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) return {};
  const ssize_t size = read(fd, begin, sizeof begin);
  close(fd);
  std::string_view line(begin, size > 0 ? static_cast<size_t>(size) : 0);
  if (!line.starts_with("#!")) return {};
  // What pip writes where the path has a space or is too long for a first line.
  constexpr std::string_view kByShell = "#!/bin/sh\n'''exec' ";
  if (line.starts_with(kByShell)) {
    line.remove_prefix(kByShell.size());
    const bool is_quoted = line.starts_with('"');
    if (is_quoted) line.remove_prefix(1);
    const size_t end = line.find(is_quoted ? '"' : ' ');
    const std::string path(line.substr(0, end));
    return end != line.npos && IsInterpreter(path) ? path : "";
  }
  line = line.substr(2, line.find('\n') - 2);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const std::string path(line.substr(0, line.find_first_of(" \t\r")));
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.starts_with("python") && IsInterpreter(path) ? path : "";
}

// The python of the .venv in the folder, or in the nearest one above.
std::string NearestEnvironment(std::string folder) {
  while (!folder.empty()) {
    const std::string python = folder + "/.venv/bin/python";
    if (IsRegularFile(python) && IsRegularFile(folder + "/.venv/pyvenv.cfg")) {
      return python;
    }
    folder.resize(folder.rfind('/'));
  }
  return {};
}

// What is wished for, and by what; false: nothing is.
bool FindWished(const PythonWishes& wishes, PythonChoice* choice,
                std::string* wished_by) {
  const auto take = [&](const std::string& python, const std::string& by) {
    choice->program = choice->file = python;
    *wished_by = by;
    return true;
  };
  if (!wishes.option.empty()) {
    // A folder is taken as an environment's; a bare name is looked up.
    std::string program = wishes.option;
    if (IsDirectory(program)) program += "/bin/python";
    take(program, "--python " + wishes.option);
    const bool bare = program.find('/') == std::string::npos;
    if (bare) choice->file = OnPath(program, wishes.path);
    return true;
  }
  const std::string environment_python = wishes.virtual_env + "/bin/python";
  if (!wishes.virtual_env.empty() && IsRegularFile(environment_python)) {
    return take(environment_python,
                "virtual environment " + wishes.virtual_env);
  }
  if (const std::string named = InterpreterOf(wishes.script); !named.empty()) {
    return take(named, wishes.script + ": " + named);
  }
  if (const std::string near = NearestEnvironment(wishes.folder);
      !near.empty()) {
    return take(near, "virtual environment " + DirectoryOf(DirectoryOf(near)));
  }
  const std::string bin = DirectoryOf(wishes.launcher);
  if (!wishes.launcher.empty() && IsRegularFile(bin + "/../pyvenv.cfg") &&
      IsRegularFile(bin + "/python")) {
    return take(bin + "/python", "virtual environment " + DirectoryOf(bin));
  }
  if (!wishes.built_in.empty()) return false;
  if (!wishes.launcher.empty() && IsRegularFile(bin + "/python3")) {
    return take(bin + "/python3", bin + "/python3");
  }
  const std::string found = OnPath("python3", wishes.path);
  return !found.empty() && take(found, "python3 on PATH: " + found);
}

}  // namespace

bool ChoosePython(const PythonWishes& wishes, const std::string& version,
                  Delivery delivery, PythonChoice* choice, std::string* error) {
  if (version.empty() && delivery == Delivery::kEmbed) {
    *error = "--delivery embed: this pymemrun has no interpreter inside";
    return false;
  }
  std::string wished_by;
  if (FindWished(wishes, choice, &wished_by)) {
    return Settle(wished_by, wishes, version, delivery, choice, error);
  }
  *choice = {wishes.built_in, wishes.built_in, delivery != Delivery::kPreload};
  if (wishes.built_in.empty()) {
    *error = "there is no python3 on PATH; name a Python with --python";
  }
  return !wishes.built_in.empty();
}

}  // namespace pymemrun
