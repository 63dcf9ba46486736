#include "text/columns.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

constexpr absl::string_view kDots = "..";

std::string Spaces(absl::string_view text, size_t columns) {
  const size_t has = ColumnsOf(text);
  return std::string(has < columns ? columns - has : 0, ' ');
}

}  // namespace

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

std::string CutToColumns(absl::string_view name, size_t columns) {
  std::string shown;
  size_t used = 0;
  size_t room = 0;  // bytes of `shown` that leave room for the dots
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
