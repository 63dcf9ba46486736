#include "collector/process/pss_meter.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "collector/process/monotonic_clock.h"

namespace pymemrun {
namespace {

// Shortest distance of two looks.
constexpr uint64_t kPeriodNs = 10000000;
// PSS has moved by 64 KiB and a 1024th part. The steps are small, because those
// of many processes are added up.
constexpr uint64_t kStepBytes = 64 << 10;
constexpr uint64_t kStepPart = 1024;

// The size that follows a label; 0: the text has no such label.
uint64_t BytesAt(absl::string_view label, absl::string_view text) {
  const size_t at = text.find(label);
  if (at == absl::string_view::npos) return 0;
  const absl::string_view rest =
      absl::StripLeadingAsciiWhitespace(text.substr(at + label.size()));
  uint64_t kilobytes = 0;
  const bool is_number =
      absl::SimpleAtoi(rest.substr(0, rest.find(' ')), &kilobytes);
  return is_number ? kilobytes * 1024 : 0;
}

}  // namespace

bool HasMoved(uint64_t from_bytes, uint64_t to_bytes, uint64_t step_bytes,
              uint64_t part) {
  const uint64_t step = std::max(step_bytes, from_bytes / part);
  return to_bytes > from_bytes ? to_bytes - from_bytes >= step
                               : from_bytes - to_bytes >= step;
}

// Lines of /proc/PID/smaps_rollup, such as "Pss:     1234 kB".
ProportionalSet ProportionalSetIn(absl::string_view text) {
  return {BytesAt("\nPss:", text), BytesAt("\nRss:", text)};
}

void ProportionalSet::PutInto(ProcessSample* sample) const {
  sample->clear_rss_bytes();
  sample->clear_file_bytes();
  sample->set_pss_bytes(pss_bytes);
  sample->set_pss_rss_bytes(rss_bytes);
}

ProportionalSet PssMeter::Read(uint64_t now_ns) {
  if (now_ns < next_ns_) return {};
  if (file_ == nullptr)
    file_ = std::make_unique<ProcFile>(pid_, "smaps_rollup");
  char buffer[4096];
  // CPU time, not wall time: a collector that waits for a CPU costs nothing.
  const uint64_t begin_ns = ThreadCpuNs();
  const ProportionalSet set =
      ProportionalSetIn(file_->Read(buffer, sizeof(buffer)));
  next_ns_ =
      now_ns + std::max(kPeriodNs, kLookCostFactor * (ThreadCpuNs() - begin_ns));
  return set;
}

ProportionalSet PssMeter::ReadMoved(uint64_t now_ns) {
  const ProportionalSet set = Read(now_ns);
  if (set.pss_bytes == 0 ||
      !HasMoved(told_bytes_, set.pss_bytes, kStepBytes, kStepPart)) {
    return {};
  }
  told_bytes_ = set.pss_bytes;
  return set;
}

}  // namespace pymemrun
