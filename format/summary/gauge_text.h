// What reports say of the gauge, each in the same words: the end report and
// `pymemreport summary`.
#ifndef PYMEMRUN_FORMAT_SUMMARY_GAUGE_TEXT_H_
#define PYMEMRUN_FORMAT_SUMMARY_GAUGE_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "format/trace.pb.h"

namespace pymemrun {

// As --rss-source has it: "faults"; "unknown" for what this program does not
// know.
absl::string_view RssSourceName(RssSource source);

// Whether RSS was asked for at events: none were traced otherwise, and the RSS
// source says nothing of the run.
bool HasRssSource(const Header& header, uint64_t events);

// The RSS source, whether it changed, and statm's step: "faults; statm is exact
// to the page". Reasons are escaped for terminals and shortened to
// `most_reason_bytes`.
std::string RssSourceText(const Header& header, const Footer& footer,
                          size_t most_reason_bytes);

// How often the gauge read RSS: "4,912 times (0.02 % of the events)".
std::string RssReadsText(const Footer& footer);

// What --verify-rss found: "equal to statm at 99.98 % of 1,234 events, ...".
// REQUIRES: found.events() > 0.
std::string RssVerificationText(const RssVerification& found);

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_SUMMARY_GAUGE_TEXT_H_
