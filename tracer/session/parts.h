// Parts of a tracing session, and which part uses which. In static storage: no
// constructor runs before main, no destructor at exit. Objects that hooks of
// the heap and of libc need at a fixed address are in their own rooms.
#ifndef PYMEMRUN_TRACER_SESSION_PARTS_H_
#define PYMEMRUN_TRACER_SESSION_PARTS_H_

#include "tracer/calls/event_log.h"
#include "tracer/calls/pauses.h"
#include "tracer/calls/profile_slot.h"
#include "tracer/calls/profiler_gaps.h"
#include "tracer/calls/startup.h"
#include "tracer/code/code_registry.h"
#include "tracer/code/current_stack.h"
#include "tracer/code/filters.h"
#include "tracer/code/stack_nodes.h"
#include "tracer/code/thread_registry.h"
#include "tracer/code/tracing_cost.h"
#include "tracer/gauge/rss_gauge.h"
#include "tracer/gauge/rss_verifier.h"
#include "tracer/session/heap_module.h"
#include "tracer/session/object_module.h"
#include "tracer/session/run_file.h"

namespace pymemrun {

struct Parts {
  Filters filters;
  TracingCost cost;
  ThreadRegistry threads{filters};
  CodeRegistry codes{filters, cost, stacks};
  StackNodes nodes{codes};
  CurrentStack stacks{nodes};
  RssGauge gauge;
  RssVerifier verifier{gauge};
  ProfilerGaps gaps{threads};
  ProfileSlot slot{threads, stacks, gaps};
  Startup startup{slot, log};
  EventLog log{{codes, threads, nodes, stacks, cost, gauge, verifier, startup}};
  Pauses pauses{log};
  HeapModule heap;
  ObjectModule objects;
  RunFile file;

  // In a forked child: forgets what the parent knew. Destroys and frees
  // nothing. Settings made at the start stay.
  void Renew();

  HookParts ForHooks() { return {&log, &codes, &stacks, &threads, &gauge}; }
};

extern constinit Parts g_parts;

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_SESSION_PARTS_H_
