#include "launcher/python/python_choice.h"

#include <sys/stat.h>
#include <unistd.h>

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

// Whether `file` is a python that this interpreter may take the place of: its
// extension modules are the embedded version's own. Debian's upgrades leave
// environments behind that state an older 3.11.x; they lead to the interpreter
// that we are all the same, which the folder of the library tells.
bool CheckVersion(const std::string& wished_by, const std::string& file,
                  const PythonWishes& wishes, const std::string& version,
                  std::string* error) {
  std::string ours = VersionNumbers(version, 2);
  std::string found = PythonVersionOf(file);
  std::string ours_is = "; this pymemrun runs Python " + version;
  if (!IsRegularFile(file) || access(file.c_str(), X_OK) != 0) {
    *error = wished_by + " is not an executable Python";
  } else if (!found.empty() && found != ours) {
    *error = wished_by + " is Python " + found + ours_is;
  } else if (!IsInterpreter(file)) {
    *error = wished_by + " is not a Python interpreter";
  } else if (found.empty()) {
    *error = wished_by + ": its version is unknown" + ours_is;
  } else {
    std::string library = StandardLibraryOf(file, ours);
    if (!library.empty() &&
        library == StandardLibraryOf(wishes.built_in, ours)) {
      return true;
    }
    found = ExactVersionOf(file, ours);
    if (found == VersionNumbers(version, 3)) return true;
    *error = found.empty() ? wished_by + ": patchlevel.h is missing" + ours_is
                           : wished_by + " is Python " + found + ours_is;
  }
  return false;
}

}  // namespace

bool ChoosePython(const PythonWishes& wishes, const std::string& version,
                  std::string* program, std::string* error) {
  *program = wishes.built_in;
  if (!wishes.option.empty()) {
    // A folder is taken as an environment's; a bare name is looked up.
    *program = wishes.option;
    if (IsDirectory(*program)) *program += "/bin/python";
    bool bare = program->find('/') == std::string::npos;
    std::string file = bare ? OnPath(*program, wishes.path) : *program;
    return CheckVersion("--python " + wishes.option, file, wishes, version,
                        error);
  }
  std::string environment_python = wishes.virtual_env + "/bin/python";
  if (!wishes.virtual_env.empty() && IsRegularFile(environment_python)) {
    *program = environment_python;
    return CheckVersion("virtual environment " + wishes.virtual_env, *program,
                        wishes, version, error);
  }
  std::string bin = DirectoryOf(wishes.launcher);
  if (!wishes.launcher.empty() && IsRegularFile(bin + "/../pyvenv.cfg") &&
      IsRegularFile(bin + "/python")) {
    *program = bin + "/python";
    return CheckVersion("virtual environment " + DirectoryOf(bin), *program,
                        wishes, version, error);
  }
  return true;
}

}  // namespace pymemrun
