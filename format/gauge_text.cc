#include "format/gauge_text.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "format/report_text.h"

namespace pymemrun {
namespace {

// Never rounded up to a 100 % that it is not.
std::string SharePercent(uint64_t part, uint64_t whole) {
  if (part == whole) return "100 %";
  const double share = static_cast<double>(part) / static_cast<double>(whole);
  return absl::StrFormat("%.3f %%", std::floor(share * 100000.0) / 1000.0);
}

}  // namespace

std::string RssReadsText(const Footer& footer) {
  std::string text = Counted(footer.rss_reads(), "time");
  if (footer.events() > 0) {
    absl::StrAppendFormat(&text, " (%.2f %% of the events)",
                          100.0 * static_cast<double>(footer.rss_reads()) /
                              static_cast<double>(footer.events()));
  }
  return text;
}

std::string RssVerificationText(const RssVerification& found) {
  std::string text = absl::StrCat(
      "statm's value at ", SharePercent(found.agreeing(), found.events()),
      " of ", Counted(found.events(), "event"));
  if (found.agreeing() < found.events()) {
    absl::StrAppendFormat(
        &text, ", elsewhere wrong for at most %.1f us and by at most %s",
        static_cast<double>(found.worst_staleness_ns()) / 1e3,
        HumanBytes(static_cast<double>(found.worst_error_bytes())));
  }
  if (found.changing() > 0) {
    absl::StrAppend(&text, " (", SharePercent(found.changing(), found.events()),
                    ": just changed by another thread)");
  }
  return text;
}

}  // namespace pymemrun
