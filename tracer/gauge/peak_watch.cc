#include "tracer/gauge/peak_watch.h"

#include "tracer/base/statm.h"

namespace pymemrun {
namespace {

// A rise between two events is recorded from 64 KiB on. Smaller ones come from
// reading RSS and its maximum at slightly different times.
constexpr uint64_t kPeakPages = 16;
// The maximum of getrusage and VmHWM may differ by this much and still be the
// same.
constexpr uint64_t kSamePages = 64;

}  // namespace

// ru_maxrss of getrusage(2) survives an exec, VmHWM does not. A clear
// difference shows that it is an earlier program's.
void PeakWatch::Start(uint64_t maxrss_pages, uint64_t hwm_pages) {
  inherited_pages_ = maxrss_pages > hwm_pages + kSamePages ? maxrss_pages : 0;
}

// If every fault is counted, the peak came after the previous event; otherwise
// after the last look.
PeakFinding PeakWatch::Check(uint64_t maxrss_pages, uint64_t seen_pages,
                             bool every_fault, uint64_t number, uint64_t stamp,
                             uint64_t pause) {
  PeakFinding finding = {};
  uint64_t hwm = maxrss_pages;
  if (hwm <= inherited_pages_) {
    if (stamp < next_stamp_) return finding;
    next_stamp_ = stamp + pause;
    hwm = Statm::ReadHwmPages();
    every_fault = false;
  } else {
    inherited_pages_ = 0;  // exceeded: it is this program's from here on
  }
  if (hwm > seen_pages + kPeakPages && hwm > reported_pages_) {
    reported_pages_ = hwm;
    finding = {true, hwm,
               every_fault && number > 0 ? number - 1 : checked_number_};
  }
  checked_number_ = number;
  return finding;
}

}  // namespace pymemrun
