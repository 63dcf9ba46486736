#include "format/summary/gauge_text.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Never rounded up to a 100 % that it is not. Three decimals, rounded down.
// REQUIRES: whole > 0.
std::string SharePercent(uint64_t part, uint64_t whole) {
  if (part == whole) return "100 %";
  const double share = static_cast<double>(part) / static_cast<double>(whole);
  return absl::StrFormat("%.3f %%", std::floor(share * 100000.0) / 1000.0);
}

// The step is that of the machine the file comes from. Kernels since 6.2 count
// RSS per CPU and fold the counts into the total in batches. So statm can lag
// by a step that grows with the number of CPUs.
std::string StepText(const Header& header) {
  if (header.statm_step_bytes() == 0) return "";
  if (header.statm_step_bytes() <= header.page_bytes()) {
    return "; statm is exact to the page";
  }
  const bool refined = header.rss_source() == FAULTS;
  return absl::StrCat(
      "; statm moves in steps of ",
      HumanBytes(static_cast<double>(header.statm_step_bytes())),
      refined ? "; RSS between steps is estimated" : "");
}

// The last change only: the footer keeps one, and the number of all.
std::string ChangeText(const Footer& footer, size_t most_reason_bytes) {
  if (!footer.has_gauge_change()) return "";
  const GaugeChange& change = footer.gauge_change();
  std::string text =
      absl::StrCat("; ", RssSourceName(change.rss_source()), " from event ",
                   Grouped(change.number()), " on (",
                   ShortTerminalText(change.reason(), most_reason_bytes), ")");
  if (footer.gauge_changes() > 1) {
    absl::StrAppend(&text, ", the last of ",
                    Counted(footer.gauge_changes(), "change"));
  }
  return text;
}

}  // namespace

absl::string_view RssSourceName(RssSource source) {
  switch (source) {
    case FAULTS:
      return "faults";
    case HINTS:
      return "hints";
    case RUSAGE:
      return "rusage";
    case STATM:
      return "statm";
    default:
      return "unknown";
  }
}

bool HasRssSource(const Header& header, uint64_t events) {
  return !header.calls_off() || events > 0;
}

std::string RssSourceText(const Header& header, const Footer& footer,
                          size_t most_reason_bytes) {
  std::string text(RssSourceName(header.rss_source()));
  if (!header.rss_source_reason().empty()) {
    absl::StrAppend(
        &text, " (",
        ShortTerminalText(header.rss_source_reason(), most_reason_bytes), ")");
  }
  return absl::StrCat(text, ChangeText(footer, most_reason_bytes),
                      StepText(header));
}

std::string RssReadsText(const Footer& footer) {
  std::string text = Counted(footer.rss_reads(), "time");
  if (footer.events() > 0) {
    absl::StrAppendFormat(&text, " (%.2f %% of the events)",
                          100.0 * static_cast<double>(footer.rss_reads()) /
                              static_cast<double>(footer.events()));
  }
  return text;
}

// With other threads the true value may change between the gauge's figure and
// the reading of statm. Such events are counted apart.
std::string RssVerificationText(const RssVerification& found) {
  std::string text = absl::StrCat(
      "equal to statm at ", SharePercent(found.agreeing(), found.events()),
      " of ", Counted(found.events(), "event"));
  if (found.agreeing() < found.events()) {
    absl::StrAppendFormat(
        &text, ", otherwise wrong for at most %.1f us and by at most %s",
        static_cast<double>(found.worst_staleness_ns()) / 1e3,
        HumanBytes(static_cast<double>(found.worst_error_bytes())));
  }
  if (found.changing() > 0) {
    absl::StrAppend(&text, " (another thread had just changed it at ",
                    SharePercent(found.changing(), found.events()), ")");
  }
  return text;
}

}  // namespace pymemrun
