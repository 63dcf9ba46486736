// pymemrun-collector: started by the launcher as collector_start.h says.
#include <unistd.h>

#include "collector/collector_process.h"
#include "collector/collector_start.h"

int main() {
  pymemrun::DetachFromProgram(pymemrun::kCollectorTextFd);
  auto collector = pymemrun::CollectorProcess::Create(
      {.region = pymemrun::kCollectorRegionFd,
       .output = pymemrun::kCollectorOutputFd,
       .pid = pymemrun::kCollectorPidFd,
       .text = pymemrun::kCollectorTextFd});
  // Nobody listens to stderr; that collector_pid stays 0 tells the launcher.
  if (!collector.ok()) return 1;
  (*collector)->Run();
  return 0;
}
