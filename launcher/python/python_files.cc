#include "launcher/python/python_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace pymemrun {
namespace {

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// Calls `take` with each line of the file until it returns false. By stdio, not
// streams: their static locale objects would be in every run.
template <typename Take>
void EachLine(const std::string& path, Take take) {
  FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return;
  char line[4096];
  while (std::fgets(line, sizeof line, file) && take(std::string_view(line))) {
  }
  std::fclose(file);
}

// What a virtual environment's pyvenv.cfg says; all empty without that file.
struct EnvironmentConfig {
  std::string home;     // where the python is that it was made with
  std::string version;  // `version` (venv) or `version_info` (virtualenv)
};

// As in site.py: beside the python's folder or in it. Lines are "key = value".
EnvironmentConfig ReadConfig(const std::string& python) {
  EnvironmentConfig config;
  std::string bin = DirectoryOf(python);
  for (const std::string& folder : {bin + "/..", bin}) {
    if (!IsRegularFile(folder + "/pyvenv.cfg")) continue;
    EachLine(folder + "/pyvenv.cfg", [&config](std::string_view line) {
      size_t equals = line.find('=');
      if (equals == std::string_view::npos) return true;
      std::string_view key = Trimmed(line.substr(0, equals));
      std::string_view value = Trimmed(line.substr(equals + 1));
      if (key == "home") config.home = value;
      bool version = key == "version" || key == "version_info";
      if (version && config.version.empty()) config.version = value;
      return true;
    });
    if (!config.home.empty() || !config.version.empty()) break;
  }
  return config;
}

// "python3.11" behind all links, as in /usr/bin/python3.
std::string VersionFromName(const std::string& path) {
  std::string real = RealPath(path);
  std::string_view name = real;
  name.remove_prefix(name.rfind('/') + 1);
  return name.substr(0, 6) == "python" ? VersionNumbers(name.substr(6), 2) : "";
}

// The one `lib/pythonX.Y` of an installation; empty if there are several, for
// then the folder tells nothing.
std::string VersionFromLibrary(const std::string& lib) {
  DIR* directory = opendir(lib.c_str());
  if (directory == nullptr) return {};
  std::string found;
  int count = 0;
  while (const dirent* entry = readdir(directory)) {
    if (strncmp(entry->d_name, "python", 6) != 0) continue;
    std::string version = VersionNumbers(entry->d_name + 6, 2);
    if (version.empty()) continue;
    found = version;
    ++count;
  }
  closedir(directory);
  return count == 1 ? found : "";
}

// The folder that has the installation's lib/pythonX.Y; empty if none has. It
// is known by os.py, the landmark that CPython itself looks for
// (Modules/getpath.py).
std::string PrefixOf(const std::string& python,
                     const std::string& major_minor) {
  std::string home = ReadConfig(python).home;
  std::string folder = RealPath(home.empty() ? python : home);
  if (home.empty() && !folder.empty()) folder = DirectoryOf(folder);
  while (!folder.empty()) {
    if (IsRegularFile(folder + "/lib/python" + major_minor + "/os.py")) {
      return folder;
    }
    if (folder == "/") break;
    folder = DirectoryOf(folder);
  }
  return {};
}

}  // namespace

std::string RealPath(const std::string& path) {
  char* real = realpath(path.c_str(), nullptr);
  std::string text = real == nullptr ? "" : real;
  std::free(real);
  return text;
}

bool IsRegularFile(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

bool IsProgram(const std::string& path) {
  return IsRegularFile(path) && access(path.c_str(), X_OK) == 0;
}

// As execvp(3): an empty folder is the current one.
std::string OnPath(const std::string& name, const std::string& path,
                   const std::string& without) {
  size_t start = 0;
  while (start <= path.size()) {
    size_t colon = path.find(':', start);
    if (colon == std::string::npos) colon = path.size();
    std::string folder = path.substr(start, colon - start);
    std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    const bool left_out = !without.empty() && folder == without;
    if (!left_out && IsProgram(candidate)) return candidate;
    start = colon + 1;
  }
  return {};
}

std::string DirectoryOf(const std::string& path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string VersionNumbers(std::string_view text, int count) {
  constexpr std::string_view kDigits = "0123456789";
  size_t end = 0;
  for (int i = 0; i < count; ++i) {
    if (i > 0 && (end >= text.size() || text[end++] != '.')) return {};
    size_t begin = end;
    end = std::min(text.find_first_not_of(kDigits, begin), text.size());
    if (end == begin) return {};
  }
  return std::string(text.substr(0, end));
}

bool IsInterpreter(const std::string& path) {
  // Py_BytesMain is what every python calls since 3.8. The name is in the file
  // whether it has the function or imports it. The file is read in pieces:
  // mapped, it would raise the run's peak. The end of each piece is kept, as
  // the name may be split between two.
  constexpr std::string_view kMain = "Py_BytesMain";
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char buffer[16384];
  size_t kept = 0;
  bool found = false;
  while (!found) {
    ssize_t size = read(fd, buffer + kept, sizeof buffer - kept);
    if (size <= 0) break;
    size_t filled = kept + static_cast<size_t>(size);
    found = memmem(buffer, filled, kMain.data(), kMain.size()) != nullptr;
    kept = std::min(filled, kMain.size() - 1);
    memmove(buffer, buffer + filled - kept, kept);
  }
  close(fd);
  return found;
}

std::string HomeOf(const std::string& path) { return ReadConfig(path).home; }

// From the surest to the weakest sign.
std::string PythonVersionOf(const std::string& path) {
  std::string version = VersionNumbers(ReadConfig(path).version, 2);
  if (version.empty()) version = VersionFromName(path);
  return version.empty() ? VersionFromLibrary(DirectoryOf(path) + "/../lib")
                         : version;
}

std::string StandardLibraryOf(const std::string& path,
                              const std::string& major_minor) {
  std::string prefix = PrefixOf(path, major_minor);
  return prefix.empty() ? "" : RealPath(prefix + "/lib/python" + major_minor);
}

// The C headers state the micro version as text, where they are installed.
std::string ExactVersionOf(const std::string& path,
                           const std::string& major_minor) {
  std::string version;
  std::string header = PrefixOf(path, major_minor) + "/include/python" +
                       major_minor + "/patchlevel.h";
  EachLine(header, [&version](std::string_view line) {
    constexpr std::string_view kDefine = "#define PY_VERSION";
    if (line.substr(0, kDefine.size()) != kDefine) return true;
    size_t quote = line.find('"', kDefine.size());
    if (quote == std::string_view::npos) return true;
    version = VersionNumbers(line.substr(quote + 1), 3);
    return version.empty();
  });
  return version.empty() ? VersionNumbers(ReadConfig(path).version, 3)
                         : version;
}

}  // namespace pymemrun
