#include "tracer/gauge/peak_watch.h"

#include "tracer/base/statm.h"

namespace pymemrun {
namespace {

// A rise between two events is worth a record from 64 KiB on: a page more or
// less is what reading at slightly different times makes.
constexpr uint64_t kPeakPages = 16;
// As much may getrusage's maximum differ from VmHWM where both are the same.
constexpr uint64_t kSamePages = 64;

}  // namespace

void PeakWatch::Start(uint64_t maxrss_pages, uint64_t hwm_pages) {
  inherited_pages_ = maxrss_pages > hwm_pages + kSamePages ? maxrss_pages : 0;
}

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
