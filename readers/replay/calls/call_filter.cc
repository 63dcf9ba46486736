#include "readers/replay/calls/call_filter.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "readers/run/own_code.h"

namespace pymemrun {

// Patterns are matched once for each site, not for each call.
bool CallFilter::KeepsSite(uint32_t site) {
  if (!view_.chooses_places() && !OwnCode::HasPatterns()) return true;
  if (site == 0 || site > index_.sites()) return false;
  if (site >= sites_.size()) sites_.resize(index_.sites() + 1);
  char& known = sites_[site];
  if (known == 0) {
    const SourceLocation where = index_.Resolve(site);
    const bool is_wanted = view_.Lists(where.file, where.function) &&
                           (!OwnCode::HasPatterns() ||
                            OwnCode::KindOf(where.file) == OwnCode::kOwn);
    known = is_wanted ? 2 : 1;
  }
  return known == 2;
}

namespace {

uint64_t Magnitude(int64_t value) {
  return value < 0 ? 0 - static_cast<uint64_t>(value)
                   : static_cast<uint64_t>(value);
}

}  // namespace

bool IsBeyond(const EndedCall& call, uint64_t bytes) {
  return Magnitude(call.charged_bytes) > bytes;
}

// Nested calls see the same growth one after the other. A call that is near the
// last peak, in both time and bytes, is that peak again.
std::vector<EndedCall> ChoosePeaks(const std::vector<EndedCall>& calls,
                                   const PeakRule& rule, uint64_t run_us) {
  const uint64_t min_time_us = rule.min_time_us.value_or(run_us / 100);
  std::vector<EndedCall> peaks;
  for (const EndedCall& call : calls) {
    if (!IsBeyond(call, rule.min_bytes)) continue;
    if (!peaks.empty()) {
      const EndedCall& last = peaks.back();
      // Growth is below 2^62, so this cannot overflow.
      const uint64_t apart = Magnitude(call.charged_bytes - last.charged_bytes);
      if (call.time_us - last.time_us <= min_time_us &&
          apart <= rule.min_value_bytes) {
        continue;
      }
    }
    peaks.push_back(call);
  }
  return peaks;
}

absl::string_view WithoutPrefix(absl::string_view file,
                                absl::string_view prefix) {
  return absl::StripPrefix(file, prefix);
}

std::string PeakLine(size_t number, const EndedCall& peak,
                     const RunIndex& index, absl::string_view prefix) {
  const SourceLocation where = index.Resolve(peak.site);
  return absl::StrCat(number, ": ",
                      index.ThreadName(index.LatestThread(peak.thread)), ">",
                      WithoutPrefix(where.file, prefix), ":", where.line, ":",
                      where.function, "=>", peak.charged_bytes);
}

}  // namespace pymemrun
