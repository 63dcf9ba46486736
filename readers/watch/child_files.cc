#include "readers/watch/child_files.h"

#include <dirent.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "readers/run/follow_watch.h"
#include "readers/run/input_file.h"

namespace pymemrun {
namespace {

Header HeaderOfFile(const std::string& path) {
  const auto file = InputFile::Open(path);
  return file.ok() ? HeaderOf((*file)->fd()) : Header();
}

// The second field of /proc/PID/statm: resident pages, see proc(5). 0: the
// process has ended.
uint64_t RssOf(uint32_t pid) {
  const auto file = InputFile::Open(absl::StrCat("/proc/", pid, "/statm"));
  char buffer[256];
  if (!file.ok()) return 0;
  const auto size = FdSource((*file)->fd()).Read(buffer, sizeof buffer);
  if (!size.ok()) return 0;
  const std::vector<absl::string_view> fields =
      absl::StrSplit(absl::string_view(buffer, *size), ' ');
  uint64_t pages = 0;
  if (fields.size() < 2 || !absl::SimpleAtoi(fields[1], &pages)) return 0;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

// "out/run.pb" becomes folder "out/", stem "run." and ending ".pb".
ChildFiles::ChildFiles(const std::string& run_path) {
  const size_t slash = run_path.rfind('/') + 1;
  folder_ = slash == 0 ? "./" : run_path.substr(0, slash);
  const std::string name = run_path.substr(slash);
  const size_t dot = name.rfind('.');
  stem_ = absl::StrCat(name.substr(0, dot), ".");
  ending_ = dot == std::string::npos ? "" : name.substr(dot);
}

// Each header is read once; a file without one is tried again next time. A pid
// that is used again shows its first run.
std::vector<WatchFrame::Child> ChildFiles::Look(const Header& parent) {
  DIR* const files = opendir(folder_.c_str());
  while (files != nullptr) {
    const dirent* const entry = readdir(files);
    if (entry == nullptr || headers_.size() >= kMostChildren) break;
    absl::string_view name = entry->d_name;
    if (!absl::ConsumePrefix(&name, stem_) ||
        !absl::ConsumeSuffix(&name, ending_)) {
      continue;
    }
    uint32_t pid = 0;
    if (!absl::SimpleAtoi(name, &pid) || headers_.contains(pid)) continue;
    Header header = HeaderOfFile(absl::StrCat(folder_, entry->d_name));
    if (header.pid() == pid) headers_.emplace(pid, std::move(header));
  }
  if (files != nullptr) closedir(files);
  std::vector<WatchFrame::Child> children;
  for (const auto& [pid, header] : headers_) {
    // Files of an earlier run may have the same names.
    if (header.host() != parent.host() ||
        header.start_realtime_ns() < parent.start_realtime_ns()) {
      continue;
    }
    WatchFrame::Child child;
    child.pid = pid;
    child.script = header.script();
    child.ended = RunIsDead(header);
    if (!child.ended) child.rss_bytes = RssOf(pid);
    children.push_back(std::move(child));
  }
  return children;
}

}  // namespace pymemrun
