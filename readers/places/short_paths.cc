#include "readers/places/short_paths.h"

namespace pymemrun {
namespace {

// Paths that share more trailing folders are shown whole.
constexpr int kMostFolders = 8;

// The start of the part with one more folder.
size_t BeginBefore(absl::string_view path, size_t begin) {
  if (begin < 2) return 0;
  const size_t slash = path.rfind('/', begin - 2);
  return slash == path.npos ? 0 : slash + 1;
}

}  // namespace

// Starts with the file names. In each round, paths that are still equal get one
// folder more.
ShortPaths::ShortPaths(const std::vector<absl::string_view>& paths) {
  for (const absl::string_view path : paths) {
    begins_[path] = BeginBefore(path, path.size() + 1);
  }
  for (int folders = 0; folders <= kMostFolders; ++folders) {
    absl::flat_hash_map<absl::string_view, size_t> counts;
    for (const auto& [path, begin] : begins_) ++counts[path.substr(begin)];
    if (counts.size() == begins_.size()) return;
    for (auto& [path, begin] : begins_) {
      if (counts[path.substr(begin)] == 1) continue;
      begin = folders == kMostFolders ? 0 : BeginBefore(path, begin);
    }
  }
}

absl::string_view ShortPaths::Of(absl::string_view path) const {
  const auto begin = begins_.find(path);
  return begin == begins_.end() ? path : path.substr(begin->second);
}

}  // namespace pymemrun
