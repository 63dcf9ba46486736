#include "tracer/session/size_run.h"

#include "tracer/heap/heap_parts.h"
#include "tracer/session/parts.h"
#include "tracer/session/python_module.h"

namespace pymemrun {

// Without a session: only the hooks that count sizes, from the start of the
// user's code.
void SizeRun::Prepare(const TraceConfig* config) {
  PythonModule::Register(config);
  g_parts.startup.Watch(config, [] {
    if (!g_parts.startup.config().paused) g_parts.heap.GatherSizes();
    return false;
  });
}

void SizeRun::PrintBy(void (*print)()) { g_parts.heap.PrintsBy(print); }

void SizeRun::Finish() { g_parts.heap.StopSizes(); }

SizeRun::Count SizeRun::CountOf(uint32_t bin) {
  return {g_heap_sizes.count(bin), g_heap_sizes.bytes(bin)};
}

}  // namespace pymemrun
