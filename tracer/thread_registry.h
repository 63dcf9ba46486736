// The threads that had an event: their ids, Linux thread ids and names. GIL
// held.
#ifndef PYMEMRUN_TRACER_THREAD_REGISTRY_H_
#define PYMEMRUN_TRACER_THREAD_REGISTRY_H_

#include "tracer/cpython_compat.h"
#include "tracer/filters.h"
#include "tracer/hot_state.h"

namespace pymemrun {

class ThreadRegistry {
 public:
  static void Create(const Filters* filters);

  // Gives the calling thread an id and sends its definition. `frame` is its
  // current frame or null: a thread that `threading` has just begun is known by
  // the Thread object that its first frame holds.
  static void Define(HotState& hot, const PymemrunFrame* frame);

  // Whether the calling thread, defined, passes --thread.
  static bool CurrentPasses();
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_THREAD_REGISTRY_H_
