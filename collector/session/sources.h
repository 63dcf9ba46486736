// Which sources a run has: all that record something besides calls.
#ifndef PYMEMRUN_COLLECTOR_SESSION_SOURCES_H_
#define PYMEMRUN_COLLECTOR_SESSION_SOURCES_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/events/event_encoder.h"
#include "collector/output/source.h"
#include "collector/process/launch_text.h"
#include "collector/side/ring_merger.h"
#include "collector/side/side_items.h"

namespace pymemrun {

using SourceList = std::vector<std::unique_ptr<Source>>;

struct SourceInputs : SourceParts {
  const LaunchText* launch;
  int first_fd;  // of the launch text's perf events
  EventEncoder* encoder;
  RingMerger* merger;
};

// Makes those that the launch text asks for, in the order in which they are to
// be called. Fails where page faults are to be recorded and cannot be.
absl::StatusOr<SourceList> OpenSources(const SourceInputs& in);

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_SESSION_SOURCES_H_
