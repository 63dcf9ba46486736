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
  // Makes what names are looked up by: not in a hook, which may run in the
  // midst of the table of interned strings. GIL; without it names do not change.
  static void MakeKeys();

  // Gives the calling thread an id and sends its definition. `frame` is its
  // current frame or null: a thread that `threading` has just begun is known by
  // the Thread object that its first frame holds.
  static void Define(HotState& hot, const PymemrunFrame* frame);

  // The calling thread, defined, may have got another name: then it gets
  // another definition, from here on. Looks now and then: it is late by an
  // eighth of the thread's age, at most by a millisecond. `stamp`: now.
  static void LookAtName(HotState& hot, uint64_t stamp) {
    if (__builtin_expect(IsNameOld(stamp), 0)) LookAtNameSlow(hot, stamp);
  }
  static bool IsNameOld(uint64_t stamp) {
    return stamp - t_looked >= t_look_after;
  }

  // Whether the calling thread, defined, passes --thread.
  static bool CurrentPasses();

 private:
  static void LookAtNameSlow(HotState& hot, uint64_t stamp);

  // When its name was looked at, and how long to wait before it is again.
  static constinit thread_local uint64_t t_looked;
  static constinit thread_local uint64_t t_look_after;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_THREAD_REGISTRY_H_
