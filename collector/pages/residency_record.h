// What the kernel said is resident, as a record.
#ifndef PYMEMRUN_COLLECTOR_PAGES_RESIDENCY_RECORD_H_
#define PYMEMRUN_COLLECTOR_PAGES_RESIDENCY_RECORD_H_

#include <cstdint>

#include "collector/output/record_sink.h"
#include "collector/pages/residency_scan.h"
#include "collector/process/clock_scale.h"

namespace pymemrun {

// REQUIRES: `clock` was started, and the page events before it are written.
void WriteResidency(const ResidencyAnswer& answer, uint32_t page_bytes,
                    const ClockScale& clock, RecordSink* out);

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PAGES_RESIDENCY_RECORD_H_
