// Threads that had an event: their ids, Linux thread ids and names. All
// functions need the GIL.
#ifndef PYMEMRUN_TRACER_CODE_THREAD_REGISTRY_H_
#define PYMEMRUN_TRACER_CODE_THREAD_REGISTRY_H_

#include "tracer/base/hot_state.h"
#include "tracer/code/filters.h"
#include "tracer/cpython/abilities.h"
#include "tracer/cpython/compat.h"

namespace pymemrun {

class ThreadRegistry {
 public:
  explicit constexpr ThreadRegistry(const Filters& filters)
      : filters_(filters) {}
  // Makes the strings for looking up names. Not in a hook, which may interrupt
  // a change of the table of interned strings. Without these strings names do
  // not change.
  void MakeKeys();

  // Gives the calling thread an id and sends its definition. `frame` is its
  // current frame or null. A thread that `threading` has just started is
  // identified by the Thread object in its first frame.
  void Define(HotState& hot, const PymemrunFrame* frame);

  // The calling thread, which is defined, may have a new name: then it gets a
  // new definition. Looks from time to time: late by at most an eighth of the
  // thread's age, or 1 ms. `stamp`: now. Definitions are in the event ring, so
  // nothing happens without a GIL to guard it.
  void LookAtName(HotState& hot, uint64_t stamp) {
    if (!kTracesCalls) return;
    if (__builtin_expect(IsNameOld(stamp), 0)) LookAtNameSlow(hot, stamp);
  }
  // Looks at the next event, or this one: the name is about to change.
  static void LookSoon() { t_look_after = 0; }
  static bool IsNameOld(uint64_t stamp) {
    return stamp - t_looked >= t_look_after;
  }

  // Whether the calling thread, which is defined, passes --thread.
  static bool CurrentPasses();

 private:
  // Strings for looking up names; all null if they could not be made.
  struct Keys {
    PyObject* name = nullptr;
    PyObject* threading = nullptr;
    PyObject* active = nullptr;
  };
  size_t NameOf(PyObject* thread, char* buffer) const;
  size_t NameFromBootstrap(const PymemrunFrame* frame, char* buffer) const;
  PyObject* FindThread() const;
  size_t NameNow(char* buffer) const;
  void Send(HotState& hot, const char* name, size_t length);
  void LookAtNameSlow(HotState& hot, uint64_t stamp);

  // Time of the last look at its name, and time until the next one.
  static constinit thread_local uint64_t t_looked;
  static constinit thread_local uint64_t t_look_after;

  const Filters& filters_;
  uint32_t last_id_ = 0;
  Keys keys_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CODE_THREAD_REGISTRY_H_
