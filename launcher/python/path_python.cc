#include "launcher/python/path_python.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
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

// In pyenv's own order: the variable, the nearest .python-version from the
// folder upwards, the global file. Colons separate several versions.
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
  // The root folder is the empty one.
  bool is_there = false;
  while (!(is_there = IsRegularFile(folder + "/.python-version")) &&
         !folder.empty()) {
    folder.resize(folder.rfind('/'));
  }
  versions.said_by = is_there ? folder + "/.python-version" : root + "/version";
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

// The name of the folder that has it; empty: none has. `name` may be a release,
// a line such as 3.12, or an environment's name.
std::string Installed(const std::string& folder, const std::string& name) {
  constexpr std::string_view kPrefix = "python-";
  const std::string plain =
      name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
  for (const std::string& known : {name, plain}) {
    if (IsFolder(folder + "/" + known)) return known;
  }
  return NewestOf(folder, plain);
}

// The first version with a python3 runs, but all names must be installed, as
// with pyenv. "system" is the first python3 on PATH outside pyenv's shims.
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
    python.problem = "pyenv's " + versions.names.front() + ", from " +
                     versions.said_by + ", has no python3";
    return python;
  }
  python.file = OnPath(kPython, path, shims);
  python.by = "python3 on PATH: " + python.file;
  return python;
}

}  // namespace

// pyenv puts scripts into a folder "shims" on PATH, beside its folder
// "versions". They are scripts, so nothing can be preloaded into them.
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

namespace {

constexpr int kMostLinks = 40;  // as the kernel has it
constexpr char kAccessList[] = "system.posix_acl_access";

using Fields = std::vector<std::string_view>;

Fields Split(std::string_view text, char separator) {
  Fields fields;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    fields.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return fields;
}

// Calls `take` with the fields of each line of /etc/passwd or /etc/group. Not
// by getgrgid(), which loads libraries into the process that is traced.
template <typename Take>
void EachEntry(const char* path, size_t least_fields, Take take) {
  FILE* const file = std::fopen(path, "re");
  char* line = nullptr;
  size_t room = 0;
  for (ssize_t size;
       file != nullptr && (size = getline(&line, &room, file)) > 0;) {
    std::string_view text(line, static_cast<size_t>(size));
    if (text.ends_with('\n')) text.remove_suffix(1);
    const Fields fields = Split(text, ':');
    if (fields.size() >= least_fields) take(fields);
  }
  std::free(line);
  if (file != nullptr) std::fclose(file);
}

// Whether users other than this one and root may be in the group. Many systems
// give each user a group of their own, and let it write. A group that
// /etc/group does not have may be anybody's.
bool HasOthers(gid_t group) {
  const std::string number = std::to_string(group);
  const std::string own = std::to_string(geteuid());
  std::string own_name;
  bool found = false, others = false;
  EachEntry("/etc/passwd", 4, [&](const Fields& user) {
    const bool is_own = user[2] == own;
    if (is_own && own_name.empty()) own_name = user[0];
    others |= user[3] == number && !is_own && user[2] != "0";
  });
  EachEntry("/etc/group", 4, [&](const Fields& entry) {
    if (entry[2] != number) return;
    found = true;
    for (const std::string_view member : Split(entry[3], ',')) {
      others |= !member.empty() && member != own_name && member != "root";
    }
  });
  return others || !found;
}

// Whether others may write to the file, or add, remove or rename names in the
// folder. A link's own mode means nothing (symlink(7)).
bool OthersMayWrite(const std::string& path, const struct stat& status) {
  if (S_ISLNK(status.st_mode)) return false;
  // Names in it are their owners' to change.
  if (S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0) return false;
  if ((status.st_mode & S_IWOTH) != 0) return true;
  // With an access list the group's rights are those of whoever it names.
  return (status.st_mode & S_IWGRP) != 0 &&
         (getxattr(path.c_str(), kAccessList, nullptr, 0) > 0 ||
          HasOthers(status.st_gid));
}

}  // namespace

// Walks like the kernel does (path_resolution(7)): one name at a time, links
// replaced by their text. Each file, folder and link on the way is looked at.
// `at` never has a link in it, so ".." can be taken off its end.
std::string OthersMayChange(const std::string& path) {
  std::string at;    // without links; empty: the root folder
  std::string rest;  // of the way, from there
  char text[PATH_MAX];
  if (!path.starts_with('/')) {
    if (getcwd(text, sizeof text) == nullptr) return path;
    rest = std::string(text) + "/";
  }
  rest += path;
  struct stat status;
  int links = 0;
  while (!rest.empty()) {
    const size_t slash = std::min(rest.find('/'), rest.size());
    const std::string name = rest.substr(0, slash);
    rest.erase(0, slash + 1);
    if (name == "..") at.resize(at.empty() ? 0 : at.rfind('/'));
    if (name == "." || name == ".." || (name.empty() && !at.empty())) continue;
    const std::string next = name.empty() ? "/" : at + "/" + name;
    if (lstat(next.c_str(), &status) != 0 ||
        (status.st_uid != 0 && status.st_uid != geteuid()) ||
        OthersMayWrite(next, status)) {
      return next;
    }
    if (!S_ISLNK(status.st_mode)) {
      if (!name.empty()) at = next;
      continue;
    }
    const ssize_t size = readlink(next.c_str(), text, sizeof text);
    if (size <= 0 || ++links > kMostLinks) return next;
    rest = std::string(text, static_cast<size_t>(size)) + "/" + rest;
    if (rest.starts_with('/')) at.clear();
  }
  return {};
}

}  // namespace pymemrun
