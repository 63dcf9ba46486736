#include "readers/across_runs/diff/code_match.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "readers/across_runs/diff/place_match.h"

namespace pymemrun {
namespace {

using Numbers = std::vector<uint32_t>;

// Items of both runs that may match, by number.
struct Group {
  Numbers before, after;
};
using Name = std::pair<absl::string_view, absl::string_view>;

// By size, then by text, so that the choice does not depend on the order of
// stacks.
bool IsShorter(absl::string_view a, absl::string_view b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

// Sorted, and without duplicates: the shortest qualname stays.
std::vector<CodeItem> Distinct(std::vector<CodeItem> items) {
  std::sort(items.begin(), items.end(),
            [](const CodeItem& a, const CodeItem& b) {
              if (a < b || b < a) return a < b;
              return IsShorter(a.qualname, b.qualname);
            });
  items.erase(std::unique(items.begin(), items.end(),
                          [](const CodeItem& a, const CodeItem& b) {
                            return !(a < b) && !(b < a);
                          }),
              items.end());
  return items;
}

// Calls `add` for each place that the run's stacks and sites name.
template <typename Add>
void ForEachPlace(const RunIndex& index, Add add) {
  for (uint32_t id = 1; id <= index.stacks(); ++id) add(index.ResolveStack(id));
  for (uint32_t id = 1; id <= index.sites(); ++id) add(index.Resolve(id));
}

// The distinct files of items, which are sorted by file.
std::vector<absl::string_view> FilesOf(const std::vector<CodeItem>& items) {
  std::vector<absl::string_view> files;
  for (const CodeItem& item : items) {
    if (files.empty() || files.back() != item.file) files.push_back(item.file);
  }
  return files;
}

// Matches the items of two runs. Each step takes what the steps before left,
// from the surest evidence to the weakest, so a later step cannot undo an
// earlier one. All but the sorts is linear in the items.
class Matcher {
 public:
  Matcher(const std::vector<CodeItem>& before,
          const std::vector<CodeItem>& after)
      : before_(before),
        after_(after),
        matches_(before.size()),
        taken_(after.size()),
        settled_before_(before.size()),
        settled_after_(after.size()) {}

  std::vector<CodeMatch> Take() {
    // Items of `before` are grouped under the name that their file has in
    // `after`.
    const auto files = MatchFiles(FilesOf(before_), FilesOf(after_));
    absl::flat_hash_map<Name, Group> functions;
    MatchUnchanged(files);
    for (uint32_t i = 0; i < before_.size(); ++i) {
      const auto file = files.find(before_[i].file);
      if (file == files.end() || settled_before_[i]) continue;
      functions[{file->second, before_[i].qualname}].before.push_back(i);
    }
    for (uint32_t i = 0; i < after_.size(); ++i) {
      if (settled_after_[i]) continue;
      functions[{after_[i].file, after_[i].qualname}].after.push_back(i);
    }
    for (auto& [name, group] : functions) MatchFunction(&group);
    // Moves within a file come first: they are likelier than moves between
    // files.
    MatchMoved([&](const CodeItem& item, bool is_before) {
      const auto file = files.find(item.file);
      if (!is_before) return item.file;
      return file == files.end() ? absl::string_view() : file->second;
    });
    MatchMoved([](const CodeItem& item, bool) { return item.qualname; });
    return std::move(matches_);
  }

 private:
  using Files = absl::flat_hash_map<absl::string_view, absl::string_view>;

  // Lines of an unchanged file have the same number, or were not run this time.
  // So a line without a match has none at all: it is settled.
  void MatchUnchanged(const Files& files) {
    absl::flat_hash_map<std::pair<absl::string_view, uint32_t>, uint32_t> lines;
    absl::flat_hash_set<absl::string_view> unchanged;  // files of `after`
    for (uint32_t i = 0; i < after_.size(); ++i) {
      lines[{after_[i].file, after_[i].line}] = i;
    }
    // Items are sorted by file, and all of a file have its stamp. REQUIRES:
    // `after` has the file.
    const auto stamp_of = [this](absl::string_view file) {
      const auto found =
          std::lower_bound(after_.begin(), after_.end(), file,
                           [](const CodeItem& item, absl::string_view name) {
                             return item.file < name;
                           });
      return found->stamp;
    };
    for (uint32_t i = 0; i < before_.size(); ++i) {
      const CodeItem& item = before_[i];
      const auto file = files.find(item.file);
      // Without a time of the last change nothing is known about the file.
      if (item.stamp.second == 0 || file == files.end() ||
          stamp_of(file->second) != item.stamp) {
        continue;
      }
      settled_before_[i] = true;
      unchanged.insert(file->second);
      const auto found = lines.find({file->second, item.line});
      if (found != lines.end()) Match(i, found->second);
    }
    for (uint32_t i = 0; i < after_.size(); ++i) {
      settled_after_[i] = unchanged.contains(after_[i].file);
    }
  }

  // Pairs two items. It was edited if both texts are known and differ.
  void Match(uint32_t before, uint32_t after, bool moved = false) {
    const std::optional<uint32_t>&a = before_[before].hash,
          &b = after_[after].hash;
    matches_[before] = {after, a.has_value() && b.has_value() && *a != *b,
                        moved};
    taken_[after] = true;
  }
  bool IsMatched(uint32_t before) const {
    return matches_[before].after != CodeMatch::kNone;
  }
  // Drops the items that have a match by now.
  void KeepLeft(Group* group) const {
    const auto drop = [](Numbers* from, auto is_done) {
      from->erase(std::remove_if(from->begin(), from->end(), is_done),
                  from->end());
    };
    drop(&group->before, [this](uint32_t i) { return IsMatched(i); });
    drop(&group->after, [this](uint32_t i) { return taken_[i]; });
  }

  // Pairs items at the same distance from the first line of their function, if
  // `may` agrees.
  template <typename May>
  void MatchOffsets(Group* group, May may) {
    std::multimap<uint32_t, uint32_t> by_offset;
    for (const uint32_t i : group->after) {
      by_offset.emplace(after_[i].offset, i);
    }
    for (const uint32_t i : group->before) {
      const auto found = by_offset.find(before_[i].offset);
      if (found == by_offset.end() || !may(before_[i], after_[found->second])) {
        continue;
      }
      Match(i, found->second);
      by_offset.erase(found);
    }
    KeepLeft(group);
  }

  // Matches the lines of one function. Equal texts first; by distance among
  // these, as a text may occur several times.
  void MatchFunction(Group* group) {
    absl::flat_hash_map<uint32_t, Group> texts;
    for (const uint32_t i : group->before) {
      if (before_[i].hash) texts[*before_[i].hash].before.push_back(i);
    }
    for (const uint32_t i : group->after) {
      if (after_[i].hash) texts[*after_[i].hash].after.push_back(i);
    }
    const auto any = [](const CodeItem&, const CodeItem&) { return true; };
    for (auto& [hash, same] : texts) {
      MatchOffsets(&same, any);
      const size_t count = std::min(same.before.size(), same.after.size());
      for (size_t i = 0; i < count; ++i) Match(same.before[i], same.after[i]);
    }
    // What has no equal text: by distance if a text is unknown, then by
    // distance although both texts differ.
    Group left = *group;
    KeepLeft(&left);
    MatchOffsets(&left, [](const CodeItem& a, const CodeItem& b) {
      return !a.hash || !b.hash;
    });
    MatchOffsets(&left, any);
    if (!left.before.empty() && !left.after.empty()) MatchBetween(*group);
  }

  // Pairs two lines if each is the only one left between the same two matched
  // lines. Lines seldom change their order, so this is an edit.
  void MatchBetween(const Group& group) {
    // By the number in `after` of the matched line before.
    std::map<uint32_t, Group> gaps;
    uint32_t line = 0;
    for (const uint32_t i : group.before) {
      if (IsMatched(i)) {
        line = after_[matches_[i].after].line;
      } else {
        gaps[line].before.push_back(i);
      }
    }
    line = 0;
    for (const uint32_t i : group.after) {
      if (taken_[i]) {
        line = after_[i].line;
      } else {
        gaps[line].after.push_back(i);
      }
    }
    for (const auto& [after, gap] : gaps) {
      if (gap.before.size() == 1 && gap.after.size() == 1 &&
          before_[gap.before[0]].hash && after_[gap.after[0]].hash) {
        Match(gap.before[0], gap.after[0]);
      }
    }
  }

  // Pairs what is left in both runs exactly once with the same text, or
  // function name, and the same `KeyOf`. Several candidates would be a guess:
  // they stay unmatched.
  template <typename KeyOf>
  void MatchMoved(KeyOf key_of) {
    absl::flat_hash_map<std::pair<Name, uint32_t>, Group> left;
    const auto group_of = [&](const CodeItem& item, bool is_before) -> Group* {
      const absl::string_view key = key_of(item, is_before);
      // A function goes by its name, unless it is one that many share, such as
      // <lambda>.
      const absl::string_view name =
          item.name.empty() || item.name.front() == '<' ? "" : item.qualname;
      if (key.empty() || (!item.hash && name.empty())) return nullptr;
      return &left[{{key, name}, item.hash.value_or(0)}];
    };
    for (uint32_t i = 0; i < before_.size(); ++i) {
      if (IsMatched(i) || settled_before_[i]) continue;
      if (Group* group = group_of(before_[i], true)) group->before.push_back(i);
    }
    for (uint32_t i = 0; i < after_.size(); ++i) {
      if (taken_[i] || settled_after_[i]) continue;
      if (Group* group = group_of(after_[i], false)) group->after.push_back(i);
    }
    for (const auto& [key, group] : left) {
      if (group.before.size() == 1 && group.after.size() == 1) {
        Match(group.before[0], group.after[0], /*moved=*/true);
      }
    }
  }

  const std::vector<CodeItem>&before_, &after_;
  std::vector<CodeMatch> matches_;
  std::vector<bool> taken_;
  std::vector<bool> settled_before_, settled_after_;
};

}  // namespace

// Source lines are looked up after duplicates are gone: once for each line.
std::vector<CodeItem> LinesOf(const RunIndex& index) {
  std::vector<CodeItem> items;
  ForEachPlace(index, [&](const SourceLocation& where) {
    if (where.line == 0 || where.file.empty()) return;
    CodeItem item = {where.file, where.line, "", where.qualname};
    item.offset = where.line - where.first_line;
    items.push_back(item);
  });
  items = Distinct(std::move(items));
  for (CodeItem& item : items) {
    const SourceLine* source = index.source_lines().Find(item.file, item.line);
    if (source != nullptr) item.hash = source->hash;
    item.stamp = index.source_lines().Stamp(item.file);
  }
  return items;
}

// Functions have no hash and no offset. So MatchOffsets() pairs those with the
// same file and qualified name.
std::vector<CodeItem> FunctionsOf(const RunIndex& index) {
  std::vector<CodeItem> items;
  ForEachPlace(index, [&](const SourceLocation& where) {
    if (where.file.empty()) return;
    items.push_back(
        {where.file, where.first_line, where.code_name, where.qualname});
  });
  return Distinct(std::move(items));
}

std::vector<CodeMatch> MatchCode(const std::vector<CodeItem>& before,
                                 const std::vector<CodeItem>& after) {
  return Matcher(before, after).Take();
}

}  // namespace pymemrun
