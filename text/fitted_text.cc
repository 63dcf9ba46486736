#include "text/fitted_text.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

constexpr absl::string_view kDots = "..";
constexpr size_t kLeastPart = 4;  // of a path, or of a name

// The position of ":16", which is a line number, or of "#313" at the end, which
// is a thread's. Numbers in folders, and after a name, do not count.
struct NumberAt {
  size_t begin, end;
};
NumberAt FindNumber(absl::string_view label) {
  const size_t slash = label.rfind('/');
  for (size_t i = slash == label.npos ? 0 : slash; i < label.size(); ++i) {
    if (label[i] != ':' && label[i] != '#') continue;
    size_t end = i + 1;
    while (end < label.size() && absl::ascii_isdigit(label[end])) ++end;
    if (end == i + 1) continue;
    const bool is_last = end == label.size();
    if (label[i] == '#' ? is_last
                        : is_last || (!absl::ascii_isalnum(label[end]) &&
                                      label[end] != '_')) {
      return {i, end};
    }
  }
  return {label.size(), label.size()};
}

std::string Spaces(absl::string_view text, size_t columns) {
  const size_t has = ColumnsOf(text);
  return std::string(has < columns ? columns - has : 0, ' ');
}

}  // namespace

// A space after a digit does not break a line, unless another space follows or
// the text ends: "1.5 MiB" stays together.
std::vector<absl::string_view> UnbrokenWords(absl::string_view text) {
  std::vector<absl::string_view> words;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_joined = i > 0 && absl::ascii_isdigit(text[i - 1]) &&
                           i + 1 < text.size() && text[i + 1] != ' ';
    if (text[i] != ' ' || is_joined) continue;
    words.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  words.push_back(text.substr(begin));
  return words;
}

std::string PadRight(absl::string_view text, size_t columns) {
  return absl::StrCat(text, Spaces(text, columns));
}

std::string PadLeft(absl::string_view text, size_t columns) {
  return absl::StrCat(Spaces(text, columns), text);
}

// One pass. `room` is the longest start of `shown` that leaves room for the
// dots, in case that the name turns out to be too long.
std::string CutToColumns(absl::string_view name, size_t columns) {
  std::string shown;
  size_t used = 0;
  size_t room = 0;  // bytes of `shown` that leave room for dots
  while (!name.empty()) {
    const Rune rune = FirstRune(name);
    used += AppendVisible(rune, name.substr(0, rune.size), &shown);
    if (used > columns) {
      shown.resize(room);
      return absl::StrCat(shown, kDots);
    }
    if (used + kDots.size() <= columns) room = shown.size();
    name.remove_prefix(rune.size);
  }
  return shown;
}

// Removes characters from the front until the rest fits behind the dots. It
// goes on up to the next slash, so that whole folders are removed. It stops
// inside the file's name only if even that does not fit.
std::string CutPath(absl::string_view path, size_t columns, bool unicode) {
  const absl::string_view dots = unicode ? "…" : kDots;
  const size_t room = columns - std::min(columns, ColumnsOf(dots));
  size_t left = ColumnsOf(path);
  if (left <= columns) return std::string(path);
  const size_t last = path.rfind('/');
  const size_t slash = last == path.npos ? 0 : last;
  absl::string_view rest = path;
  while (left > room ||
         (!rest.empty() && rest.front() != '/' &&
          static_cast<size_t>(rest.data() - path.data()) <= slash &&
          ColumnsOf(path.substr(slash)) <= room)) {
    const Rune rune = FirstRune(rest);
    std::string shown;
    left -= AppendVisible(rune, rest.substr(0, rune.size), &shown);
    rest.remove_prefix(rune.size);
  }
  return absl::StrCat(dots, rest);
}

std::string CutLabel(absl::string_view label, size_t columns, bool unicode) {
  if (ColumnsOf(label) <= columns) return std::string(label);
  const NumberAt number = FindNumber(label);
  if (number.begin == label.size()) {
    return absl::StrContains(label, '/') ? CutPath(label, columns, unicode)
                                         : CutToColumns(label, columns);
  }
  // "name (path:16)", or "path:16 name", or "name#313".
  const size_t open = label.substr(0, number.begin).rfind('(');
  const bool in_brackets = open != label.npos && label.back() == ')';
  if (in_brackets && label.front() == ' ') {  // in a tree
    const size_t indent =
        std::min(label.find_first_not_of(' '), columns - columns / 2);
    return absl::StrCat(label.substr(0, indent),
                        CutLabel(absl::StripLeadingAsciiWhitespace(label),
                                 columns - indent, unicode));
  }
  const size_t begin = in_brackets ? open + 1 : 0;
  const absl::string_view path = label.substr(begin, number.begin - begin);
  absl::string_view name = in_brackets
                               ? absl::StripSuffix(label.substr(0, open), " ")
                               : label.substr(number.end);
  absl::string_view fixed =
      label.substr(number.begin, number.end - number.begin);
  // "job.py:5 to :7" has two.
  if (!in_brackets && FindNumber(name).begin < name.size()) {
    fixed = label.substr(number.begin);
    name = "";
  }
  // The number is kept whole. Of what is left, the path gets half, or all that
  // the name does not need. In brackets 3 columns go to " (" and ")". If too
  // little is left for both, only the path and the number are shown.
  const size_t room = columns - std::min(columns, ColumnsOf(fixed));
  const size_t both = room - std::min<size_t>(room, in_brackets ? 3 : 0);
  if (fixed[0] == '#' && both >= kLeastPart) {
    return absl::StrCat(CutToColumns(path, both), fixed);
  }
  if (both < 2 * kLeastPart) {
    return absl::StrCat(CutPath(path, room, unicode), fixed);
  }
  const size_t left = both - std::min(both, ColumnsOf(name));
  const std::string cut = CutPath(
      path, std::max(std::min(ColumnsOf(path), both / 2), left), unicode);
  const std::string rest = CutToColumns(name, both - ColumnsOf(cut));
  return in_brackets ? absl::StrCat(rest, " (", cut, fixed, ")")
                     : absl::StrCat(cut, fixed, rest);
}

// 999.5 would be rounded to 1000, which has four digits, so the next unit
// begins there. 9.95 would be rounded to 10.0, so decimals end there.
std::string ShortBytes(double bytes) {
  static constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double value = bytes;
  size_t unit = 0;
  while (std::fabs(value) >= 999.5 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  const int decimals = unit == 0 || std::fabs(value) >= 9.95 ? 0 : 1;
  return absl::StrFormat("%.*f %s", decimals, value, kUnits[unit]);
}

std::string Percent(double share) {
  return absl::StrFormat("%.0f %%", 100 * share);
}

// The folder of installed packages says nothing to a reader; the path in it
// does.
std::string ShortPath(absl::string_view path, absl::string_view folder) {
  for (const absl::string_view installed :
       {"/site-packages/", "/dist-packages/"}) {
    const size_t at = path.rfind(installed);
    if (at != absl::string_view::npos) {
      return std::string(path.substr(at + installed.size()));
    }
  }
  if (!folder.empty() && absl::StartsWith(path, absl::StrCat(folder, "/"))) {
    path.remove_prefix(folder.size() + 1);
  }
  return std::string(path);
}

std::string ShortestPath(absl::string_view path, absl::string_view folder,
                         bool unicode) {
  const std::string shorter = ShortPath(path, folder);
  if (shorter.empty() || shorter.front() != '/') return shorter;
  size_t begin = shorter.rfind('/');
  if (begin > 0) begin = shorter.rfind('/', begin - 1);
  if (begin == 0 || begin == std::string::npos) return shorter;
  return absl::StrCat(unicode ? "…" : kDots, shorter.substr(begin));
}

}  // namespace pymemrun
