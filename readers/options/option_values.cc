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

void Exclude(CLI::App* app, const std::vector<std::string>& these,
             const std::vector<std::string>& others) {
  for (const std::string& name : these) {
    CLI::Option* const option = app->get_option(name);
    for (const std::string& other : others) {
      option->excludes(app->get_option(other));
    }
  }
}

void ExcludeValues(CLI::App* app, const std::string& name,
                   const std::vector<std::string>& values,
                   const std::vector<std::string>& others) {
  // Values are looked at before conflicts are.
  app->get_option(name)->check([=](const std::string& value) {
    if (std::count(values.begin(), values.end(), value) > 0) {
      Exclude(app, {name}, others);
    }
    return std::string();
  });
}

void ExcludeEachOther(CLI::App* app, const std::vector<std::string>& names) {
  for (size_t i = 1; i < names.size(); ++i) {
    Exclude(app, {names[i]}, {names.begin(), names.begin() + i});
  }
}

void Need(CLI::App* app, const std::vector<std::string>& these,
          const std::string& needed) {
  for (const std::string& name : these) {
    app->get_option(name)->needs(app->get_option(needed));
  }
}

}  // namespace pymemrun
