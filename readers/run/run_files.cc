#include "readers/run/run_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace pymemrun {
namespace {

namespace fs = std::filesystem;

constexpr char kSuffix[] = ".pb";

// "run.obj.pb", "run.obj-1.pb": a dump of objects, not a run file.
bool IsDumpName(absl::string_view name) {
  absl::ConsumeSuffix(&name, kSuffix);
  const size_t dot = name.rfind('.');
  return dot != absl::string_view::npos &&
         (name.substr(dot) == ".obj" ||
          absl::StartsWith(name.substr(dot), ".obj-"));
}

// Files in the folder with this prefix and the suffix ".pb", sorted.
std::vector<std::string> FilesIn(const fs::path& folder,
                                 const std::string& prefix) {
  std::vector<std::string> found;
  std::error_code error;
  const fs::path named = folder.empty() ? fs::path(".") : folder;
  for (fs::directory_iterator it(named, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!absl::StartsWith(name, prefix) || !absl::EndsWith(name, kSuffix) ||
        name.size() <= prefix.size() + 2 || IsDumpName(name)) {
      continue;
    }
    // Opening a pipe of that name would wait.
    std::error_code unknown;
    if (!it->is_regular_file(unknown)) continue;
    found.push_back((folder / name).string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

std::vector<std::string> WithFolders(const std::vector<std::string>& paths) {
  std::vector<std::string> all;
  for (const std::string& path : paths) {
    std::error_code error;
    std::vector<std::string> inside;
    if (fs::is_directory(path, error)) inside = FilesIn(path, "");
    if (inside.empty()) inside = {path};
    all.insert(all.end(), inside.begin(), inside.end());
  }
  return all;
}

// Names of children's files extend that of the parent's: "run.pb",
// "run.4712.pb".
std::vector<std::string> WithChildren(const std::string& path) {
  std::vector<std::string> all = {path};
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return all;
  const fs::path file(path);
  const std::string name = file.filename().string();
  const std::string prefix =
      absl::StrCat(absl::StripSuffix(name, kSuffix), ".");
  for (std::string& child : FilesIn(file.parent_path(), prefix)) {
    if (child != path) all.push_back(std::move(child));
  }
  return all;
}

std::vector<std::string> EachOnce(const std::vector<std::string>& paths) {
  absl::flat_hash_set<std::string> seen;
  std::vector<std::string> all;
  for (const std::string& path : paths) {
    if (seen.insert(path).second) all.push_back(path);
  }
  return all;
}

// The parent of "run.4713.pb" is "run.4712.pb", or "run.pb" if it was the first
// process.
std::vector<std::string> ParentFiles(const std::string& path, uint32_t pid,
                                     uint32_t parent_pid) {
  const std::string number = absl::StrCat(pid);
  fs::path file(path);
  // A link, such as /proc/self/fd/3, stands for its target, whose name has the
  // pid.
  if (!absl::StrContains(file.filename().string(), number)) {
    std::error_code error;  // on failure the path is empty
    file = fs::canonical(path, error);
  }
  const std::string name = file.filename().string();
  const size_t at = name.rfind(number);
  if (at == std::string::npos) return {};
  std::string before = name.substr(0, at);
  std::vector<std::string> found =
      FilesIn(file.parent_path(), absl::StrCat(before, parent_pid));
  if (absl::EndsWith(before, ".")) before.pop_back();
  found.push_back((file.parent_path() / (before + kSuffix)).string());
  return found;
}

}  // namespace pymemrun
