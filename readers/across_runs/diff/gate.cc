#include "readers/across_runs/diff/gate.h"

#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "readers/across_runs/diff/run_diff.h"
#include "readers/across_runs/diff/unlike_runs.h"
#include "text/report_text.h"
#include "text/size_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

absl::Status IsNoLimit(absl::string_view text, absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat(
      "expected ", expected, ", found '", TerminalText(text), "'"));
}

bool ParseTotal(absl::string_view name, Total* total) {
  for (size_t i = 0; i < kTotals; ++i) {
    *total = static_cast<Total>(i);
    if (TotalName(*total) == name) return true;
  }
  return false;
}

// Parses "0.5s", "500ms" to microseconds.
bool ParseTime(absl::string_view text, double* us) {
  const double unit = absl::ConsumeSuffix(&text, "ms")  ? 1e3
                      : absl::ConsumeSuffix(&text, "s") ? 1e6
                                                        : 0;
  if (unit == 0 || text.empty() || !absl::ascii_isdigit(text.front()) ||
      !absl::SimpleAtod(text, us)) {
    return false;
  }
  *us *= unit;
  return true;
}

// A digit comes first: a limit below 0, "inf" and "nan" are refused.
bool ParsePercent(absl::string_view text, double* percent) {
  return absl::ConsumeSuffix(&text, "%") && !text.empty() &&
         absl::ascii_isdigit(text.front()) &&
         absl::SimpleAtod(absl::StripAsciiWhitespace(text), percent) &&
         std::isfinite(*percent);
}

bool ParseBytes(absl::string_view text, double* bytes) {
  const auto size = ParseSize({text.data(), text.size()});
  if (size.has_value()) *bytes = static_cast<double>(*size);
  return size.has_value();
}

std::string PercentText(double part, double whole) {
  return whole > 0 ? absl::StrFormat("%+.1f %%", 100 * part / whole) : "";
}

// How far the limit is exceeded, with the benefit of the doubt for errors.
double Excess(const Limit& limit, const Figure& before, const Figure& after) {
  const Change change = ChangeOf(before, after);
  if (!limit.is_change) {
    // Only NEW's value is judged, so only its error counts.
    return after.value - Change::kErrors * std::sqrt(after.variance) -
           limit.most;
  }
  if (!limit.is_percent) {
    return change.bytes() - Change::kErrors * change.Error() - limit.most;
  }
  const double factor = 1 + limit.most / 100;
  const double error =
      std::sqrt(after.variance + factor * factor * before.variance);
  // A value that did not grow breaches no limit, even one below 0.
  return std::fmin(
      after.value - factor * before.value - Change::kErrors * error,
      change.bytes());
}

// "peak is 340.0 MiB, +20.0 MiB (+6.2 %) from 320.0 MiB: more than ... allows".
std::string BreachText(const Limit& limit, const Figure& before,
                       const Figure& after) {
  const std::string now = FigureText(limit.total, after.value);
  std::string text = absl::StrCat(TotalName(limit.total), " is ", now);
  if (limit.is_change) {
    const double change = after.value - before.value;
    const std::string percent = PercentText(change, before.value);
    absl::StrAppend(&text, ", ", FigureText(limit.total, change, true),
                    percent.empty() ? "" : absl::StrCat(" (", percent, ")"),
                    " from ", FigureText(limit.total, before.value));
  }
  return absl::StrCat(text, ": more than ", limit.text, " allows");
}

}  // namespace

// NAME > [+] NUMBER UNIT. A "+" makes it a limit for the change; only a change
// may be in percent.
absl::StatusOr<Limit> ParseLimit(absl::string_view text) {
  const size_t sign = text.find('>');
  if (sign == absl::string_view::npos) {
    return IsNoLimit(text, "a limit in quotes, such as 'peak>+5%'");
  }
  Limit limit;
  limit.text = std::string(text);
  const absl::string_view name =
      absl::StripAsciiWhitespace(text.substr(0, sign));
  if (!ParseTotal(name, &limit.total)) {
    return IsNoLimit(name, "peak, heap, heap-end, growth, time or cpu");
  }
  absl::string_view most = absl::StripAsciiWhitespace(text.substr(sign + 1));
  limit.is_change = absl::ConsumePrefix(&most, "+");
  limit.is_percent = limit.is_change && absl::EndsWith(most, "%");
  const bool is_read = limit.is_percent      ? ParsePercent(most, &limit.most)
                       : IsTime(limit.total) ? ParseTime(most, &limit.most)
                                             : ParseBytes(most, &limit.most);
  if (is_read) return limit;
  return IsNoLimit(text.substr(sign + 1), IsTime(limit.total)
                                              ? "+5%, +0.5s, +500ms or a time"
                                              : "+5%, +1MiB or a size");
}

// A breach counts even if the runs are unlike. A pass does not: NEW may have
// stopped early, or lost what it held.
Verdict Judge(const std::vector<Limit>& limits, const RunSide& before,
              const RunSide& after) {
  Verdict verdict;
  for (const Limit& limit : limits) {
    const Figure &was = before.total(limit.total),
                 &is = after.total(limit.total);
    const bool lacks_before = limit.is_change && !was.is_known;
    if (lacks_before || !is.is_known) {
      verdict.unknown.push_back(absl::StrCat(
          limit.text, ": ", lacks_before ? "OLD" : "NEW", " has no ",
          TotalName(limit.total), ": it was not recorded"));
      continue;
    }
    if (Excess(limit, was, is) > 0) {
      verdict.breaches.push_back(BreachText(limit, was, is));
      continue;
    }
    const std::string why =
        WhyUnlike(limit.is_change ? before : after, after, limit.total);
    if (!why.empty()) {
      verdict.unknown.push_back(absl::StrCat(limit.text, ": ", why));
    }
  }
  return verdict;
}

std::string FigureText(Total total, double value, bool with_sign) {
  const std::string text = IsTime(total)
                               ? absl::StrFormat("%.3f s", value / 1e6)
                               : HumanBytes(value);
  return with_sign && value > 0 ? absl::StrCat("+", text) : text;
}

}  // namespace pymemrun
