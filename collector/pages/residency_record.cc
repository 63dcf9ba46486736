#include "collector/pages/residency_record.h"

#include "format/batches/residency.h"
#include "format/trace.pb.h"

namespace pymemrun {

void WriteResidency(const ResidencyAnswer& answer, uint32_t page_bytes,
                    const ClockScale& clock, RecordSink* out) {
  Record record;
  Residency* residency = record.mutable_residency();
  residency->set_begin_us(clock.MicrosOfMonotonic(answer.begin_ns));
  residency->set_time_us(clock.MicrosOfMonotonic(answer.end_ns));
  residency->set_rss_bytes(answer.rss_bytes);
  ResidencyEncoder ranges(residency);
  for (const ResidentPages& range : answer.ranges) {
    const uint64_t page = range.begin / page_bytes;
    ranges.Add({page, range.end / page_bytes - page, range.mapping,
                (range.flags & Residency::FILE_BACKED) != 0,
                (range.flags & Residency::HUGE) != 0});
  }
  // One that is not written counts as a page event.
  out->Write(record.SerializeAsString(), {.page_events = 1});
}

}  // namespace pymemrun
