#include "readers/across_runs/diff/file_match.h"

#include "absl/container/flat_hash_set.h"

namespace pymemrun {
namespace {

constexpr int kMostNames = 16;

using Files = std::vector<absl::string_view>;

// Its last `names` names; empty where it has no more than these.
absl::string_view Suffix(absl::string_view path, int names) {
  if (path.empty() || path.front() != '/') return {};
  size_t at = path.size();
  for (int i = 0; i < names; ++i) {
    at = at == 0 ? absl::string_view::npos : path.rfind('/', at - 1);
    if (at == absl::string_view::npos) return {};
  }
  return path.substr(at);
}

// Files by their suffix; an empty name where several have it.
absl::flat_hash_map<absl::string_view, absl::string_view> BySuffix(
    const Files& files, int names) {
  absl::flat_hash_map<absl::string_view, absl::string_view> found;
  for (const absl::string_view file : files) {
    const absl::string_view suffix = Suffix(file, names);
    if (suffix.empty()) continue;
    const auto [known, is_new] = found.try_emplace(suffix, file);
    if (!is_new && known->second != file) known->second = {};
  }
  return found;
}

template <typename Matched>
void Drop(const Matched& matched, Files* files) {
  Files left;
  for (const absl::string_view file : *files) {
    if (!matched.contains(file)) left.push_back(file);
  }
  *files = std::move(left);
}

}  // namespace

absl::flat_hash_map<absl::string_view, absl::string_view> MatchFiles(
    const Files& before, const Files& after) {
  absl::flat_hash_map<absl::string_view, absl::string_view> matches;
  const absl::flat_hash_set<absl::string_view> all(after.begin(), after.end());
  for (const absl::string_view file : before) {
    if (all.contains(file)) matches.emplace(file, *all.find(file));
  }
  Files from = before, to = after;
  Drop(matches, &from);
  Drop(matches, &to);
  for (int names = kMostNames; names > 0; --names) {
    const auto left = BySuffix(from, names), right = BySuffix(to, names);
    absl::flat_hash_set<absl::string_view> taken;
    for (const auto& [suffix, file] : left) {
      const auto found = right.find(suffix);
      if (found == right.end() || file.empty() || found->second.empty()) {
        continue;
      }
      matches.emplace(file, found->second);
      taken.insert(found->second);
    }
    Drop(matches, &from);
    Drop(taken, &to);
  }
  return matches;
}

}  // namespace pymemrun
