// pymemrun-collector: started by the launcher as collector_start.h says. With
// `--name-of FILE` it only prints what an earlier run is to be called. With
// `--objects` it writes a dump of the object graph, see object_wire.h.
#include <malloc.h>
#include <unistd.h>

#include <cstring>

#include "collector/objects/object_collector.h"
#include "collector/output/run_writer.h"
#include "collector/process/detach.h"
#include "collector/process/dump_orders.h"
#include "collector/session/collector_process.h"
#include "collector/session/collector_start.h"

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--name-of") == 0) {
    return pymemrun::PrintRunName(argv[2]);
  }
  if ((argc == 2 || argc == 4) && std::strcmp(argv[1], "--objects") == 0) {
    return pymemrun::RunObjectCollector(
        argc == 2 ? pymemrun::DumpPlace()
                  : pymemrun::DumpPlace{argv[2], argv[3]});
  }
  const pymemrun::LaunchText launch =
      pymemrun::ReadLaunchText(pymemrun::kCollectorTextFd);
  // Those that signal do so while they are open: until the end.
  pymemrun::DetachFromProgram(pymemrun::kCollectorPageFds - 1 +
                              static_cast<int>(launch.page_counters +
                                               launch.page_signals +
                                               launch.state_events));
  pymemrun::OutliveProgram();
  // The thread that writes allocates little: it needs no memory of its own.
  mallopt(M_ARENA_MAX, 1);
  pymemrun::DumpOrders::Catch();
  auto collector = pymemrun::CollectorProcess::Create(
      {.region = pymemrun::kCollectorRegionFd,
       .reply = pymemrun::kCollectorReplyFd,
       .output = pymemrun::kCollectorOutputFd,
       .pid = pymemrun::kCollectorPidFd,
       .text = pymemrun::kCollectorTextFd,
       .first_page = pymemrun::kCollectorPageFds});
  // stderr is not read; collector_pid stays 0, which tells the launcher.
  if (!collector.ok()) return 1;
  (*collector)->Run();
  // Nothing is destroyed: that waits for the end of threads, which a filter of
  // system calls may refuse them.
  _exit(0);
}
