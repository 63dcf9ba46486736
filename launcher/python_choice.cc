#include "launcher/python_choice.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace pymemrun {
namespace {

bool IsRegularFile(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

bool IsDirectory(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

std::string DirectoryOf(const std::string& path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// "3.11" of "3.11.2.final.0"; empty if it does not begin with two numbers.
std::string MajorMinor(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  size_t dot = text.find_first_not_of(kDigits);
  if (dot == 0 || dot == std::string_view::npos || text[dot] != '.') return {};
  size_t end = text.find_first_not_of(kDigits, dot + 1);
  if (end == dot + 1 || dot + 1 == text.size()) return {};
  return std::string(text.substr(0, end));
}

// The version that a pyvenv.cfg states: `version` (venv) or `version_info`
// (virtualenv).
std::string VersionFromConfig(const std::string& path) {
  // stdio, not streams: their static locale objects would be in every run.
  FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return {};
  char line[4096];
  std::string version;
  while (version.empty() && std::fgets(line, sizeof line, file)) {
    std::string_view text = line;
    size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    std::string_view key = Trimmed(text.substr(0, equals));
    if (key != "version" && key != "version_info") continue;
    version = MajorMinor(Trimmed(text.substr(equals + 1)));
  }
  std::fclose(file);
  return version;
}

std::string VersionFromName(const std::string& path) {
  char* real = realpath(path.c_str(), nullptr);
  if (real == nullptr) return {};
  std::string_view name = real;
  name.remove_prefix(name.rfind('/') + 1);
  std::string version;
  if (name.substr(0, 6) == "python") version = MajorMinor(name.substr(6));
  std::free(real);
  return version;
}

// The one `lib/pythonX.Y` of an installation; empty if there are several.
std::string VersionFromLibrary(const std::string& lib) {
  DIR* directory = opendir(lib.c_str());
  if (directory == nullptr) return {};
  std::string found;
  int count = 0;
  while (const dirent* entry = readdir(directory)) {
    if (std::strncmp(entry->d_name, "python", 6) != 0) continue;
    std::string version = MajorMinor(entry->d_name + 6);
    if (version.empty()) continue;
    found = version;
    ++count;
  }
  closedir(directory);
  return count == 1 ? found : "";
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

bool CheckVersion(const std::string& wished_by, const std::string& file,
                  const std::string& version, std::string* error) {
  if (!IsRegularFile(file) || access(file.c_str(), X_OK) != 0) {
    *error = wished_by + " is no python that can be run";
    return false;
  }
  std::string found = PythonVersionOf(file);
  if (found == version) return true;
  if (found.empty()) {
    *error = wished_by +
             ": cannot tell its version; this pymemrun runs Python " + version;
  } else {
    *error = wished_by + " is Python " + found +
             "; this pymemrun runs Python " + version;
  }
  return false;
}

}  // namespace

std::string PythonVersionOf(const std::string& path) {
  std::string bin = DirectoryOf(path);
  for (const std::string& folder : {bin + "/..", bin}) {
    if (!IsRegularFile(folder + "/pyvenv.cfg")) continue;
    std::string version = VersionFromConfig(folder + "/pyvenv.cfg");
    if (!version.empty()) return version;
  }
  std::string version = VersionFromName(path);
  return version.empty() ? VersionFromLibrary(bin + "/../lib") : version;
}

bool ChoosePython(const PythonWishes& wishes, const std::string& version,
                  std::string* program, std::string* error) {
  *program = wishes.built_in;
  if (!wishes.option.empty()) {
    // A folder is taken as an environment's; a bare name is looked up.
    *program = wishes.option;
    if (IsDirectory(*program)) *program += "/bin/python";
    bool bare = program->find('/') == std::string::npos;
    std::string file = bare ? OnPath(*program, wishes.path) : *program;
    return CheckVersion("--python " + wishes.option, file, version, error);
  }
  std::string environment_python = wishes.virtual_env + "/bin/python";
  if (!wishes.virtual_env.empty() && IsRegularFile(environment_python)) {
    *program = environment_python;
    return CheckVersion("virtual environment " + wishes.virtual_env, *program,
                        version, error);
  }
  std::string bin = DirectoryOf(wishes.launcher);
  if (!wishes.launcher.empty() && IsRegularFile(bin + "/../pyvenv.cfg") &&
      IsRegularFile(bin + "/python")) {
    *program = bin + "/python";
    return CheckVersion("virtual environment " + DirectoryOf(bin), *program,
                        version, error);
  }
  return true;
}

}  // namespace pymemrun
