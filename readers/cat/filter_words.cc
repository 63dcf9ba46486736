#include "readers/cat/filter_words.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "readers/options/option_values.h"

namespace pymemrun {

absl::StatusOr<uint32_t> ParseKinds(absl::string_view list) {
  static constexpr absl::string_view kNames[] = {
      "call", "return", "c_call", "c_return", "c_except",
      "mark", "page",   "alloc",  "free",     "gil"};
  uint32_t kinds = 0;
  for (absl::string_view word : absl::StrSplit(list, ',')) {
    const auto* found = std::find(std::begin(kNames), std::end(kNames),
                                  absl::AsciiStrToLower(word));
    if (found == std::end(kNames)) {
      return IsNot(
          word,
          "a kind of event; there are "
          "call,return,c_call,c_return,c_except,mark,page,alloc,free,gil");
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
    } else if (word == "gil") {
      options->extra.gil = true;
    } else {
      return IsNot(word,
                   "a kind of record; there are calls,marks,pages,heap,gil");
    }
  }
  return absl::OkStatus();
}

}  // namespace pymemrun
