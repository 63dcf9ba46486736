#include "readers/option_values.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "format/terminal_text.h"

namespace pymemrun {
namespace {

constexpr uint64_t kKibi = 1024;

struct Unit {
  absl::string_view name;
  uint64_t bytes;
};
constexpr Unit kUnits[] = {
    {"", 1},
    {"b", 1},
    {"k", kKibi},
    {"kib", kKibi},
    {"kb", 1000},
    {"m", kKibi* kKibi},
    {"mib", kKibi* kKibi},
    {"mb", 1000 * 1000},
    {"g", kKibi* kKibi* kKibi},
    {"gib", kKibi* kKibi* kKibi},
    {"gb", 1000 * 1000 * 1000},
    {"t", kKibi* kKibi* kKibi* kKibi},
    {"tib", kKibi* kKibi* kKibi* kKibi},
    {"tb", 1000ull * 1000 * 1000 * 1000},
};

absl::Status Invalid(absl::string_view text, absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat("'", TerminalText(text), "' is no ", expected));
}

// Digits with at most one point: no sign, exponent, "inf" or "nan".
bool IsPlainDecimal(absl::string_view text) {
  return !text.empty() && std::count(text.begin(), text.end(), '.') <= 1 &&
         text != "." &&
         text.find_first_not_of("0123456789.") == absl::string_view::npos;
}

// Single-character changes from `a` to `b`.
size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
    }
  }
  return row[b.size()];
}

}  // namespace

absl::StatusOr<uint64_t> ParseBytes(absl::string_view text) {
  constexpr absl::string_view kExpected =
      "size; expected bytes such as 4096, 4KiB, 1M";
  const size_t digits =
      std::min(text.find_first_not_of("0123456789."), text.size());
  const absl::string_view number = text.substr(0, digits);
  const std::string unit =
      absl::AsciiStrToLower(absl::StripAsciiWhitespace(text.substr(digits)));
  const Unit* found = std::find_if(
      std::begin(kUnits), std::end(kUnits),
      [&unit](const Unit& candidate) { return candidate.name == unit; });
  if (found == std::end(kUnits) || !IsPlainDecimal(number)) {
    return Invalid(text, kExpected);
  }
  uint64_t whole;
  if (absl::SimpleAtoi(number, &whole)) {
    if (whole > UINT64_MAX / found->bytes) return Invalid(text, kExpected);
    return whole * found->bytes;
  }
  double value;
  if (!absl::SimpleAtod(number, &value) || value * found->bytes >= 1.8e19) {
    return Invalid(text, kExpected);
  }
  return static_cast<uint64_t>(std::llround(value * found->bytes));
}

absl::StatusOr<uint64_t> ParseSeconds(absl::string_view text) {
  double seconds;
  if (!IsPlainDecimal(text) || !absl::SimpleAtod(text, &seconds) ||
      seconds > 9e12) {
    return Invalid(text, "time; expected seconds such as 1.25");
  }
  return static_cast<uint64_t>(std::llround(seconds * 1e6));
}

absl::StatusOr<uint32_t> ParseKinds(absl::string_view list) {
  static constexpr absl::string_view kNames[] = {
      "call", "return", "c_call", "c_return", "c_except", "mark"};
  uint32_t kinds = 0;
  for (absl::string_view word : absl::StrSplit(list, ',')) {
    const auto* found = std::find(std::begin(kNames), std::end(kNames),
                                  absl::AsciiStrToLower(word));
    if (found == std::end(kNames)) {
      return Invalid(word,
                     "kind of event; there are "
                     "call,return,c_call,c_return,c_except,mark");
    }
    kinds |= 1u << (found - std::begin(kNames));
  }
  return kinds;
}

absl::Status ParseRecords(absl::string_view list, FilterOptions* options) {
  options->calls = options->marks = false;
  for (absl::string_view word : absl::StrSplit(list, ',')) {
    if (word == "calls") {
      options->calls = true;
    } else if (word == "marks") {
      options->marks = true;
    } else if (word == "pages" || word == "heap") {
      return absl::UnimplementedError(
          absl::StrCat("records of kind '", word, "' are not built yet"));
    } else {
      return Invalid(word, "kind of record; there are calls,marks,pages,heap");
    }
  }
  return absl::OkStatus();
}

std::string NearestName(absl::string_view word,
                        const std::vector<std::string>& names) {
  constexpr size_t kLongestWord = 64;
  std::string nearest;
  if (word.size() > kLongestWord) return nearest;
  size_t least = std::max<size_t>(3, word.size() / 2 + 1);
  for (const std::string& name : names) {
    const bool begins = word.size() > 3 &&
                        absl::string_view(name).substr(0, word.size()) == word;
    const size_t distance = begins ? 1 : EditDistance(word, name);
    if (distance < least) {
      least = distance;
      nearest = name;
    }
  }
  return nearest;
}

}  // namespace pymemrun
