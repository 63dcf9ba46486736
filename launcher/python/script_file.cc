#include "launcher/python/script_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "launcher/python/python_files.h"

namespace pymemrun {
namespace {

constexpr std::string_view kPython = "python", kElf = "\177ELF";

// What pip writes where the path has a space or is too long for a first line: a
// script both for sh, which runs the Python, and for Python.
constexpr std::string_view kByShell = "#!/bin/sh\n'''exec' ";

// 1024 bytes hold any first line that the kernel takes (at most 256 bytes,
// execve(2)).
std::string BeginOf(const std::string& path) {
  char begin[1024];
  const int fd =
      IsRegularFile(path) ? open(path.c_str(), O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) return {};
  const ssize_t size = read(fd, begin, sizeof begin);
  close(fd);
  return std::string(begin, size > 0 ? static_cast<size_t>(size) : 0);
}

bool Exists(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0;
}

// Whether the first line names a Python, by its path or for env.
bool IsPythonScript(const std::string& path) {
  const std::string begin = BeginOf(path);
  const std::string line = begin.substr(0, begin.find('\n'));
  return begin.starts_with(kByShell) ||
         (line.starts_with("#!") && line.find(kPython) != line.npos);
}

}  // namespace

// Not through env: that would find the Python on PATH, which is a wish of its
// own.
std::string InterpreterOf(const std::string& script) {
  const std::string begin = BeginOf(script);
  std::string_view line = begin;
  if (!line.starts_with("#!")) return {};
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
  return name.starts_with(kPython) && IsInterpreter(path) ? path : "";
}

// A name such as python3.12 counts only if there is no folder of that name
// which Python could run.
bool NamesInterpreter(const std::string& word) {
  if (IsRegularFile(word)) {
    return BeginOf(word).starts_with(kElf) && IsInterpreter(word);
  }
  const bool is_name =
      word.starts_with(kPython) &&
      word.find_first_not_of("0123456789.", kPython.size()) == word.npos;
  return is_name && !Exists(word + "/__main__.py") &&
         !Exists(word + "/__main__.pyc");
}

bool NamesProgram(const std::string& word) {
  return !word.empty() && word.find('/') == word.npos &&
         !word.ends_with(".py") && !Exists(word);
}

std::string FindProgram(const std::string& name, const std::string& bin,
                        const std::string& path, std::string* error) {
  const std::string beside = bin + "/" + name;
  if (IsPythonScript(beside)) return beside;
  const std::string found = OnPath(name, path);
  if (IsPythonScript(found)) return found;
  *error = found.empty() ? "there is no file " + name + ", and no program " +
                               name + " in " + bin + " or on PATH"
                         : found + " is not a Python program";
  *error += "; a module runs with -m " + name;
  return {};
}

}  // namespace pymemrun
