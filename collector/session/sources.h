// Which sources a run has: all that record something besides calls.
#ifndef PYMEMRUN_COLLECTOR_SESSION_SOURCES_H_
#define PYMEMRUN_COLLECTOR_SESSION_SOURCES_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/events/event_encoder.h"
#include "collector/output/record_sink.h"
#include "collector/output/source.h"
#include "collector/process/clock_scale.h"
#include "collector/process/launch_text.h"
#include "collector/side/ring_merger.h"
#include "collector/side/side_items.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

using SourceList = std::vector<std::unique_ptr<Source>>;

// What sources are made of. All must outlive them.
struct SourceParts {
  const ControlPage* page;
  pid_t pid;
  uint32_t page_bytes;
  int first_fd;  // of the launch text's perf events
  const LaunchText* launch;
  const ClockScale* clock;
  EventEncoder* encoder;
  RingMerger* merger;
  SideItems* side;
  RecordSink* out;
};

// Makes those that the launch text asks for, in the order in which they are to
// be called. Fails where page faults are to be recorded and cannot be.
absl::StatusOr<SourceList> OpenSources(const SourceParts& parts);

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_SESSION_SOURCES_H_
