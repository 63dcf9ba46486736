#include "readers/replay/moments/moment.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Digits with at most one point: no sign, exponent, "inf" or "nan".
bool IsPlainDecimal(absl::string_view text) {
  return !text.empty() && text != "." &&
         std::count(text.begin(), text.end(), '.') <= 1 &&
         text.find_first_not_of("0123456789.") == absl::string_view::npos;
}

absl::Status Expected(absl::string_view expected, absl::string_view found) {
  return absl::InvalidArgumentError(absl::StrCat(
      "expected ", expected, ", found '", TerminalText(found), "'"));
}

}  // namespace

std::optional<uint64_t> ParseDuration(absl::string_view text) {
  struct Unit {
    absl::string_view name;
    double us;
  };
  constexpr Unit kUnits[] = {{"us", 1},  {"ms", 1e3},  {"s", 1e6},
                             {"m", 6e7}, {"h", 3.6e9}, {"", 1e6}};
  const size_t digits =
      std::min(text.find_first_not_of("0123456789."), text.size());
  double value = 0;
  if (!IsPlainDecimal(text.substr(0, digits)) ||
      !absl::SimpleAtod(text.substr(0, digits), &value)) {
    return std::nullopt;
  }
  for (const Unit& unit : kUnits) {
    if (unit.name != text.substr(digits)) continue;
    const double us = value * unit.us;
    if (us < 1e15) return static_cast<uint64_t>(std::llround(us));
  }
  return std::nullopt;
}

absl::StatusOr<uint64_t> ParseTime(absl::string_view text) {
  const auto time_us = ParseDuration(text);
  if (time_us.has_value()) return *time_us;
  return Expected("a time such as 60s or 500ms", text);
}

absl::StatusOr<Moment> ParseMoment(absl::string_view text) {
  constexpr std::pair<absl::string_view, Moment::Kind> kWords[] = {
      {"peak", Moment::kPeak},
      {"heap-peak", Moment::kHeapPeak},
      {"end", Moment::kEnd},
      {"exit", Moment::kExit}};
  for (const auto& [word, kind] : kWords) {
    if (word == text) return Moment{kind};
  }
  Moment moment;
  if (const auto time_us = ParseDuration(text); time_us.has_value()) {
    moment.kind = Moment::kTime;
    moment.time_us = *time_us;
    return moment;
  }
  absl::string_view number = text;
  double percent = 0;
  if (absl::ConsumeSuffix(&number, "%") && IsPlainDecimal(number) &&
      absl::SimpleAtod(number, &percent)) {
    if (percent > 100) return Expected("a share from 0% to 100%", text);
    moment.kind = Moment::kShare;
    moment.share = percent / 100;
    return moment;
  }
  if (IsPlainDecimal(text)) return Expected("a time of the run", text);
  moment.kind = Moment::kMark;
  moment.label = std::string(absl::StripPrefix(text, "mark:"));
  return moment;
}

}  // namespace pymemrun
