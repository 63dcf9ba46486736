// A tracer that does nothing, so that the launcher can be built and tested
// alone: the run file stays as the collector leaves it.
#include <unistd.h>

#include "tracer/session/session.h"
#include "tracer/session/size_run.h"

namespace pymemrun {
namespace {

pid_t g_pid = 0;

}  // namespace

const char* Session::Prepare(ControlPage*, const TraceConfig*) {
  g_pid = getpid();
  return nullptr;
}

const PageCounters* Session::OpenPages(const PagePeriod&,
                                       const char** why_not) {
  *why_not = "none here";
  return nullptr;
}

ClockPair Session::EarlierClocks() { return {}; }

void SizeRun::Prepare(const TraceConfig*) {}

void SizeRun::PrintBy(void (*)()) {}

void SizeRun::Finish() {}

SizeRun::Count SizeRun::CountOf(uint32_t) { return {}; }

void Session::PrepareUntraced() {}

bool Session::Finish(EndReason, int, int) { return true; }

bool Session::InTracedProcess() { return getpid() == g_pid; }

bool Session::EndsByInterrupt() { return false; }

bool Session::still_writing() { return false; }

bool Session::untraced() { return false; }

uint64_t Session::LostRows() { return 0; }

}  // namespace pymemrun
