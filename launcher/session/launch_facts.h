// What the collector is told of a run when it starts: the launch text's keys.
#ifndef PYMEMRUN_LAUNCHER_SESSION_LAUNCH_FACTS_H_
#define PYMEMRUN_LAUNCHER_SESSION_LAUNCH_FACTS_H_

#include <string>

#include "launcher/session/collector_launch.h"
#include "launcher/session/event_sources.h"
#include "launcher/session/lineage.h"
#include "launcher/session/output_file.h"
#include "launcher/session/trace_start.h"

namespace pymemrun {

// What is known of one process's run.
struct RunFacts {
  RunIdentity identity;
  Lineage lineage;
  std::string path;      // of the run file
  std::string children;  // of theirs, with a star for the number
};

LaunchFacts FactsOf(const TraceRequest& request, const RunFacts& run,
                    const OpenedPages& pages, const OpenedStates& states);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_SESSION_LAUNCH_FACTS_H_
