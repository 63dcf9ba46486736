#include "readers/options/option_values.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "text/size_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
absl::StatusOr<uint64_t> ParseBytes(absl::string_view text) {
  const std::optional<uint64_t> size = ParseSize(std::string(text));
  if (size) return *size;
  return IsNot(text, "a whole number of bytes, such as 4096, 4KiB or 1M");
}

absl::StatusOr<uint64_t> ParseNumber(absl::string_view text, uint64_t least,
                                     uint64_t most) {
  uint64_t number;
  if (absl::SimpleAtoi(text, &number) && number >= least && number <= most) {
    return number;
  }
  return Expected(
      absl::StrCat("a number from ", least,
                   most == UINT64_MAX ? " on" : absl::StrCat(" to ", most)),
      text);
}

absl::Status IsNot(absl::string_view text, absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat("'", TerminalText(text), "' is not ", expected));
}

absl::Status Expected(absl::string_view expected, absl::string_view found) {
  return absl::InvalidArgumentError(absl::StrCat(
      "expected ", expected, ", found '", TerminalText(found), "'"));
}

absl::Status ExpectedOneOf(const std::vector<absl::string_view>& names,
                           absl::string_view found) {
  std::string list;
  for (size_t i = 0; i < names.size(); ++i) {
    const bool is_last = i > 0 && i + 1 == names.size();
    absl::StrAppend(&list, i == 0 ? "" : is_last ? " or " : ", ", names[i]);
  }
  return Expected(list, found);
}

}  // namespace pymemrun
