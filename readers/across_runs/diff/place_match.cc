#include "readers/across_runs/diff/place_match.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"

namespace pymemrun {
namespace {

// Whether places may be file names: code without a line, and pages of files,
// have one, however places are grouped.
bool HasFiles(GroupBy by) {
  return HasLines(by) || by == GroupBy::kFile || by == GroupBy::kModule ||
         by == GroupBy::kMapping;
}

// Functions are sorted by file, so duplicates are adjacent.
std::vector<absl::string_view> FilesOf(const RunIndex& index) {
  std::vector<absl::string_view> files;
  for (const CodeItem& item : FunctionsOf(index)) {
    if (files.empty() || files.back() != item.file) files.push_back(item.file);
  }
  // Pages of files may be charged to mappings, whose names are paths, too.
  for (uint32_t id = 1; id <= index.mappings(); ++id) {
    files.push_back(index.MappingName(id));
  }
  return files;
}

// Other kinds of places have no items: NumberOfName() numbers all of them.
std::vector<CodeItem> ItemsOf(GroupBy by, const RunIndex& index) {
  if (!HasLines(by)) return {};
  return by == GroupBy::kFunction ? FunctionsOf(index) : LinesOf(index);
}

Place PlaceOf(const CodeItem& item) {
  return {item.file, item.line, item.qualname};
}

}  // namespace

PlaceMatch::PlaceMatch(GroupBy by, const RunIndex* before,
                       const RunIndex* after)
    : by_(by),
      before_{false, ItemsOf(by, *before)},
      after_{true, ItemsOf(by, *after)} {
  MatchItems();
  if (HasFiles(by)) {
    names_ = MatchFiles(FilesOf(*before), FilesOf(*after));
  } else if (by == GroupBy::kThread) {
    MatchThreads(*before, *after);
  }
}

void PlaceMatch::MatchItems() {
  matches_ = MatchCode(before_.items, after_.items);
  before_.numbers.resize(before_.items.size());
  after_.numbers.resize(after_.items.size());
  // The match in both directions.
  after_.others.assign(after_.items.size(), CodeMatch::kNone);
  for (uint32_t i = 0; i < matches_.size(); ++i) {
    before_.others.push_back(matches_[i].after);
    if (matches_[i].after != CodeMatch::kNone) {
      after_.others[matches_[i].after] = i;
    }
  }
}

// Matches threads of one name in their order; a renamed thread has its last
// name.
void PlaceMatch::MatchThreads(const RunIndex& before, const RunIndex& after) {
  absl::flat_hash_map<absl::string_view, std::vector<uint32_t>> named;
  // From the last thread to the first, so that the first is taken first below.
  for (uint32_t id = static_cast<uint32_t>(after.threads()); id > 0; --id) {
    // Only the last id of a renamed thread.
    if (after.LatestThread(id) != id) continue;
    named[after.ThreadName(id)].push_back(id);
  }
  for (uint32_t id = 1; id <= before.threads(); ++id) {
    if (before.LatestThread(id) != id) continue;
    std::vector<uint32_t>& left = named[before.ThreadName(id)];
    if (left.empty()) continue;
    names_[before.ThreadLabel(id)] = after.ThreadLabel(left.back());
    left.pop_back();
  }
}

// Items are sorted: search as CodeItem's order does.
uint32_t PlaceMatch::Find(const Place& place, const Side& side) const {
  CodeItem item;
  item.file = place.file;
  item.line = place.line;
  if (by_ == GroupBy::kFunction) item.name = place.function;
  const auto found =
      std::lower_bound(side.items.begin(), side.items.end(), item);
  if (found == side.items.end() || item < *found) return CodeMatch::kNone;
  return static_cast<uint32_t>(found - side.items.begin());
}

// Code has a match of items; other places are matched by name.
uint32_t PlaceMatch::NumberOf(const Place& place, Side& side) {
  const uint32_t item = Find(place, side);
  return item != CodeMatch::kNone ? NumberOfItem(item, side)
                                  : NumberOfName(place, side.is_after);
}

// Numbers items as they are asked for, so only places that hold something get
// one. Entries of `numbers` are one higher, as 0 means: not numbered yet.
uint32_t PlaceMatch::NumberOfItem(uint32_t item, Side& side) {
  uint32_t& known = side.numbers[item];
  if (known != 0) return known - 1;
  const uint32_t other = side.others[item];
  // An item of the run before has the number of its match.
  if (!side.is_after && other != CodeMatch::kNone) {
    known = NumberOfItem(other, after_) + 1;
    return known - 1;
  }
  MatchedPlace matched;
  matched.place = PlaceOf(side.items[item]);
  if (!side.is_after) {
    matched.before = matched.place;
    matched.is_gone = true;
  } else if (other == CodeMatch::kNone) {
    matched.is_new = true;
  } else {
    matched.before = PlaceOf(before_.items[other]);
    matched.edited = matches_[other].edited;
    matched.moved = matches_[other].moved;
  }
  places_.push_back(matched);
  known = static_cast<uint32_t>(places_.size());
  return known - 1;
}

// A name that only one run has does not count as new: it says everything.
uint32_t PlaceMatch::NumberOfName(const Place& place, bool is_after) {
  Place name = place;
  const auto found = is_after ? names_.end() : names_.find(place.file);
  if (found != names_.end()) name.file = found->second;
  const auto [known, is_new] =
      named_.try_emplace(name, static_cast<uint32_t>(places_.size()));
  if (is_new) places_.push_back({name, name});
  if (!is_after) places_[known->second].before = place;
  return known->second;
}

namespace {

// Longer common suffixes say no more; it also bounds the passes over all files.
constexpr int kMostNames = 16;

using Files = std::vector<absl::string_view>;

// The last `names` parts of the path; empty if it has no more than these.
absl::string_view Suffix(absl::string_view path, int names) {
  if (path.empty() || path.front() != '/') return {};
  size_t at = path.size();
  for (int i = 0; i < names; ++i) {
    at = at == 0 ? absl::string_view::npos : path.rfind('/', at - 1);
    if (at == absl::string_view::npos) return {};
  }
  return path.substr(at);
}

// Files by their suffix; empty if several files have it.
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
  // What has no equal path: suffixes are tried on these alone.
  Files from = before, to = after;
  Drop(matches, &from);
  Drop(matches, &to);
  // From longer to shorter suffixes: files with most names in common match
  // first. If several files share a suffix, a shorter one decides nothing more,
  // unless the others were matched in between.
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
