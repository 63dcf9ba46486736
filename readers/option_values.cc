#include "readers/option_values.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "format/size_text.h"
#include "format/terminal_text.h"

namespace pymemrun {
namespace {

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

}  // namespace

absl::StatusOr<uint64_t> ParseBytes(absl::string_view text) {
  const std::optional<uint64_t> size = ParseSize(std::string(text));
  if (size) return *size;
  return Invalid(text,
                 "whole number of bytes; expected such as 4096, 4KiB, 1M");
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
      "call", "return", "c_call", "c_return", "c_except",
      "mark", "page",   "alloc",  "free"};
  uint32_t kinds = 0;
  for (absl::string_view word : absl::StrSplit(list, ',')) {
    const auto* found = std::find(std::begin(kNames), std::end(kNames),
                                  absl::AsciiStrToLower(word));
    if (found == std::end(kNames)) {
      return Invalid(
          word,
          "kind of event; there are "
          "call,return,c_call,c_return,c_except,mark,page,alloc,free");
    }
    kinds |= 1u << (found - std::begin(kNames));
  }
  return kinds;
}

absl::Status ParseRecords(absl::string_view list, FilterOptions* options) {
  options->calls = options->marks = false;
  options->extra = {};
  for (absl::string_view word : absl::StrSplit(list, ',')) {
    if (word == "calls") {
      options->calls = true;
    } else if (word == "marks") {
      options->marks = true;
    } else if (word == "pages") {
      options->extra.pages = true;
    } else if (word == "heap") {
      options->extra.heap = true;
    } else {
      return Invalid(word, "kind of record; there are calls,marks,pages,heap");
    }
  }
  return absl::OkStatus();
}

}  // namespace pymemrun
