// The session that only counts the sizes of allocations.
#include "tracer/heap_module.h"
#include "tracer/heap_sizes.h"
#include "tracer/python_module.h"
#include "tracer/session.h"
#include "tracer/startup.h"

namespace pymemrun {
namespace {

const TraceConfig* g_config = nullptr;

// The moment before the user's code. GIL.
bool Begin() {
  if (!g_config->paused) HeapModule::GatherSizes();
  return false;
}

}  // namespace

void Session::PrepareSizes(const TraceConfig* config) {
  g_config = config;
  PythonModule::Register(config);
  Startup::Watch(config, Begin);
}

void Session::PrintSizesBy(void (*print)()) { HeapModule::PrintsBy(print); }

void Session::FinishSizes() { HeapModule::StopSizes(); }

Session::SizeCount Session::SizesOf(uint32_t bin) {
  return {HeapSizes::count(bin), HeapSizes::bytes(bin)};
}

}  // namespace pymemrun
