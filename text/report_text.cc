#include "text/report_text.h"

#include <cmath>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace pymemrun {

// Units are powers of 1024, with one decimal. A double holds any count of bytes
// up to 2^53 exactly, and larger ones closely enough.
std::string HumanBytes(double size_bytes) {
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB",
                                           "TiB", "PiB", "EiB"};
  if (std::fabs(size_bytes) < 1024) {
    const double whole = std::round(size_bytes);
    return absl::StrFormat("%.0f byte%s", whole, whole == 1 ? "" : "s");
  }
  double size = size_bytes / 1024;
  size_t unit = 0;
  // From here on it would be rounded to 1024.0.
  while (std::fabs(size) >= 1023.95 && unit + 1 < std::size(kUnits)) {
    size /= 1024;
    ++unit;
  }
  return absl::StrFormat("%.1f %s", size, kUnits[unit]);
}

// Commas in any locale, so that reports do not depend on it.
std::string Grouped(uint64_t value) {
  const std::string digits = absl::StrCat(value);
  std::string text;
  for (size_t at = 0; at < digits.size(); ++at) {
    if (at > 0 && (digits.size() - at) % 3 == 0) text += ',';
    text += digits[at];
  }
  return text;
}

// English has one plural form; `many` is for words that do not take an s.
std::string Counted(uint64_t count, absl::string_view one,
                    absl::string_view many) {
  if (count == 1) return absl::StrCat("1 ", one);
  return absl::StrCat(Grouped(count), " ", many.empty() ? one : many,
                      many.empty() ? "s" : "");
}

std::string HumanSeconds(uint64_t time_us) {
  return absl::StrFormat("%.3f s", static_cast<double>(time_us) / 1e6);
}

}  // namespace pymemrun
