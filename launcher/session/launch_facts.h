// Facts for the launch text, which the collector reads at the start of a run.
#ifndef PYMEMRUN_LAUNCHER_SESSION_LAUNCH_FACTS_H_
#define PYMEMRUN_LAUNCHER_SESSION_LAUNCH_FACTS_H_

#include <string>

#include "launcher/session/collector_launch.h"
#include "launcher/session/event_sources.h"
#include "launcher/session/lineage.h"
#include "launcher/session/output_file.h"
#include "launcher/session/trace_start.h"

namespace pymemrun {

// Facts of one process's run.
struct RunFacts {
  RunIdentity identity;
  Lineage lineage;
  std::string path;      // of the run file
  std::string children;  // run files of children; * for the pid
};

LaunchFacts FactsOf(const TraceRequest& request, const RunFacts& run,
                    const OpenedPages& pages, const OpenedStates& states);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_SESSION_LAUNCH_FACTS_H_
