#include "readers/answer/source_text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace pymemrun {

std::vector<std::string> SourceText::ReadLines(const std::string& path) const {
  // A run file may name anything: no device, no pipe that nobody writes to.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return {};
  std::string text;
  struct stat seen;
  const bool usable = fstat(fd, &seen) == 0 && S_ISREG(seen.st_mode) &&
                      static_cast<uint64_t>(seen.st_size) <= kMostBytes &&
                      static_cast<uint64_t>(seen.st_mtim.tv_sec) * 1000000000 +
                              static_cast<uint64_t>(seen.st_mtim.tv_nsec) <=
                          last_ns_;
  if (usable) {
    text.resize(static_cast<size_t>(seen.st_size));
    const ssize_t got = read(fd, text.data(), text.size());
    text.resize(got < 0 ? 0 : static_cast<size_t>(got));
  }
  close(fd);
  return absl::StrSplit(text, '\n');
}

std::string SourceText::Line(absl::string_view file, uint32_t line) {
  if (line == 0 || file.empty() || file.front() == '<') return "";
  std::string path(file);
  if (path.front() != '/') path = absl::StrCat(folder_, "/", path);
  auto [found, is_new] = files_.try_emplace(path);
  if (is_new) found->second = ReadLines(path);
  if (line > found->second.size()) return "";
  return std::string(absl::StripAsciiWhitespace(found->second[line - 1]));
}

}  // namespace pymemrun
