#include "launcher/python/path_python.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

#include "launcher/python/python_files.h"

namespace pymemrun {
namespace {

constexpr char kPython[] = "python3";
constexpr size_t kMostNames = 64;

// What pyenv is told to run, and where that is said.
struct Versions {
  std::vector<std::string> names;
  std::string said_by;
};

bool IsFolder(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// One that leads to nowhere else than below pyenv's own folder.
bool IsPlain(std::string_view name) {
  return !name.empty() && name.front() != '#' && name.front() != '/' &&
         name.find("..") == std::string_view::npos;
}

// The first word of each line.
std::vector<std::string> WordsOf(const std::string& path) {
  std::vector<std::string> words;
  FILE* const file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return words;
  char line[1024], word[1024];
  while (std::fgets(line, sizeof line, file) && words.size() < kMostNames) {
    if (std::sscanf(line, "%1023s", word) == 1 && IsPlain(word)) {
      words.emplace_back(word);
    }
  }
  std::fclose(file);
  return words;
}

Versions VersionsFor(const std::string& root, std::string folder,
                     const std::string& variable) {
  Versions versions = {{}, "$PYENV_VERSION"};
  for (size_t begin = 0; begin < variable.size();) {
    const size_t end = std::min(variable.find(':', begin), variable.size());
    const std::string name = variable.substr(begin, end - begin);
    if (IsPlain(name)) versions.names.push_back(name);
    begin = end + 1;
  }
  if (!variable.empty()) return versions;
  while (!folder.empty() && !IsRegularFile(folder + "/.python-version")) {
    folder.resize(folder.rfind('/'));
  }
  versions.said_by =
      folder.empty() ? root + "/version" : folder + "/.python-version";
  versions.names = WordsOf(versions.said_by);
  return versions;
}

// The newest release "3.12.7" of the line "3.12".
std::string NewestOf(const std::string& folder, const std::string& line) {
  std::string newest;
  DIR* const directory = opendir(folder.c_str());
  while (const dirent* const entry =
             directory == nullptr ? nullptr : readdir(directory)) {
    const std::string name = entry->d_name;
    if (name.starts_with(line + ".") &&
        name.find_first_not_of("0123456789.", line.size()) == name.npos &&
        strverscmp(name.c_str(), newest.c_str()) > 0) {
      newest = name;
    }
  }
  if (directory != nullptr) closedir(directory);
  return newest;
}

// The name of the folder that has it; empty: none has.
std::string Installed(const std::string& folder, const std::string& name) {
  constexpr std::string_view kPrefix = "python-";
  const std::string plain =
      name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
  for (const std::string& known : {name, plain}) {
    if (IsFolder(folder + "/" + known)) return known;
  }
  return NewestOf(folder, plain);
}

PathPython ChosenByPyenv(const std::string& shims, const std::string& path,
                         const Versions& versions) {
  const std::string folder = DirectoryOf(shims) + "/versions";
  PathPython python;
  for (const std::string& name : versions.names) {
    const std::string known = Installed(folder, name);
    if (known.empty() && name != "system") {
      python.problem =
          "pyenv has no " + name + ", which " + versions.said_by + " asks for";
      return python;
    }
    const std::string file = known.empty()
                                 ? OnPath(kPython, path, shims)
                                 : folder + "/" + known + "/bin/" + kPython;
    if (!python.file.empty() || !IsProgram(file)) continue;
    python.file = file;
    python.by = versions.said_by + ": " + file;
  }
  if (!python.file.empty()) return python;
  if (!versions.names.empty()) {
    python.problem = "pyenv's " + versions.names.front() + ", by " +
                     versions.said_by + ", has no python3";
    return python;
  }
  python.file = OnPath(kPython, path, shims);
  python.by = "python3 on PATH: " + python.file;
  return python;
}

}  // namespace

PathPython FindPathPython(const std::string& path, const std::string& folder,
                          const std::string& pyenv_version) {
  const std::string found = OnPath(kPython, path);
  const std::string bin = DirectoryOf(found);
  const std::string root = DirectoryOf(bin);
  if (bin == root + "/shims" && IsFolder(root + "/versions") &&
      !IsInterpreter(found)) {
    return ChosenByPyenv(bin, path, VersionsFor(root, folder, pyenv_version));
  }
  return {found, "python3 on PATH: " + found, ""};
}

}  // namespace pymemrun
