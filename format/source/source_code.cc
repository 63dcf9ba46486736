#include "format/source/source_code.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace pymemrun {
namespace {

// To open a pipe or a device may change it, so the file is looked at first, and
// what was looked at is opened. Returns -1 where that cannot be.
int OpenRegularFile(const std::string& path) {
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  const int place = open(path.c_str(), O_PATH | O_CLOEXEC);
  if (place < 0) return -1;
  struct stat seen;
  int fd = -1;
  if (fstat(place, &seen) == 0 && S_ISREG(seen.st_mode)) {
    fd = open(absl::StrCat("/proc/self/fd/", place).c_str(), kFlags);
    // /proc is not mounted.
    if (fd < 0 && errno == ENOENT) fd = open(path.c_str(), kFlags);
  }
  close(place);
  return fd;
}

// One read(2) may return less than asked for, even of a regular file.
bool ReadAll(int fd, std::string* text) {
  size_t done = 0;
  while (done < text->size()) {
    const ssize_t got = read(fd, text->data() + done, text->size() - done);
    if (got <= 0) break;
    done += static_cast<size_t>(got);
  }
  // A file that was cut while it was read may have other lines.
  return done == text->size();
}

}  // namespace

std::vector<absl::string_view> SourceCode::Lines() const {
  return absl::StrSplit(text, '\n');
}

// CPython puts names such as "<string>" and "<frozen os>" in angle brackets:
// they are no files.
std::string SourcePath(absl::string_view file, absl::string_view folder) {
  if (file.empty() || file.front() == '<') return "";
  if (file.front() == '/') return std::string(file);
  return folder.empty() ? "" : absl::StrCat(folder, "/", file);
}

// Time and size are those of the open file. So they belong to the text that is
// read, even if the name gets another file at the same time.
std::optional<SourceCode> ReadSourceCode(const std::string& path) {
  const int fd = OpenRegularFile(path);
  if (fd < 0) return std::nullopt;
  struct stat seen;
  SourceCode source;
  bool usable = fstat(fd, &seen) == 0 && S_ISREG(seen.st_mode) &&
                static_cast<uint64_t>(seen.st_size) <= kMostSourceBytes;
  if (usable) {
    source.mtime_ns = static_cast<uint64_t>(seen.st_mtim.tv_sec) * 1000000000 +
                      static_cast<uint64_t>(seen.st_mtim.tv_nsec);
    source.text.resize(static_cast<size_t>(seen.st_size));
    usable = ReadAll(fd, &source.text);
  }
  close(fd);
  if (!usable) return std::nullopt;
  return source;
}

// FNV-1a of 32 bits, with its offset basis and its prime. It only has to tell
// an edited line from the same line.
uint32_t SourceLineHash(absl::string_view line) {
  uint32_t hash = 0x811c9dc5;
  for (const char c : absl::StripAsciiWhitespace(line)) {
    hash = (hash ^ static_cast<uint8_t>(c)) * 0x01000193;
  }
  return hash;
}

}  // namespace pymemrun
