// The session that only counts the sizes of allocations.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tracer/heap_hooks.h"
#include "tracer/heap_samples.h"
#include "tracer/heap_sizes.h"
#include "tracer/python_module.h"
#include "tracer/session.h"
#include "tracer/startup.h"

namespace pymemrun {
namespace {

const TraceConfig* g_config = nullptr;
char g_line[128];

// The moment before the user's code. GIL.
bool Begin() {
  HeapSamples::Record(!g_config->paused);
  HeapHooks::Install();
  return false;
}

}  // namespace

const char* Session::PrepareSizes(const TraceConfig* config) {
  g_config = config;
  if (!HeapHooks::Create(&config->heap)) {
    snprintf(g_line, sizeof(g_line), "tables: %s", strerror(errno));
    return g_line;
  }
  PythonModule::Register(false);
  Startup::Watch(config, Begin);
  return nullptr;
}

Session::SizeCount Session::SizesOf(uint32_t bin) {
  return {HeapSizes::count(bin), HeapSizes::bytes(bin)};
}

}  // namespace pymemrun
