#include "collector/process/pss_meter.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "collector/process/monotonic_clock.h"

namespace pymemrun {
namespace {

constexpr uint64_t kPeriodNs = 10000000;
constexpr uint64_t kCostFactor = 200;
constexpr uint64_t kStepBytes = 256 << 10;
constexpr uint64_t kStepFraction = 256;

}  // namespace

bool HasMoved(uint64_t from_bytes, uint64_t to_bytes) {
  const uint64_t step = std::max(kStepBytes, from_bytes / kStepFraction);
  return to_bytes > from_bytes ? to_bytes - from_bytes >= step
                               : from_bytes - to_bytes >= step;
}

uint64_t PssBytesIn(absl::string_view text) {
  constexpr absl::string_view kLabel = "\nPss:";
  const size_t at = text.find(kLabel);
  if (at == absl::string_view::npos) return 0;
  absl::string_view rest =
      absl::StripLeadingAsciiWhitespace(text.substr(at + kLabel.size()));
  uint64_t kilobytes = 0;
  const bool is_number =
      absl::SimpleAtoi(rest.substr(0, rest.find(' ')), &kilobytes);
  return is_number ? kilobytes * 1024 : 0;
}

uint64_t PssMeter::ReadMoved(uint64_t now_ns) {
  if (now_ns < next_ns_) return 0;
  if (file_ == nullptr)
    file_ = std::make_unique<ProcFile>(pid_, "smaps_rollup");
  char buffer[4096];
  const uint64_t begin_ns = MonotonicNs();
  const uint64_t bytes = PssBytesIn(file_->Read(buffer, sizeof(buffer)));
  next_ns_ =
      now_ns + std::max(kPeriodNs, kCostFactor * (MonotonicNs() - begin_ns));
  if (bytes == 0 || !HasMoved(told_bytes_, bytes)) return 0;
  told_bytes_ = bytes;
  return bytes;
}

}  // namespace pymemrun
