// The threads that had an event: their ids, Linux thread ids and names. GIL
// held.
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
  // Makes what names are looked up by: not in a hook, which may run in the
  // midst of the table of interned strings. GIL; without it names do not
  // change.
  void MakeKeys();

  // Gives the calling thread an id and sends its definition. `frame` is its
  // current frame or null: a thread that `threading` has just begun is known by
  // the Thread object that its first frame holds.
  void Define(HotState& hot, const PymemrunFrame* frame);

  // The calling thread, defined, may have got another name: then it gets
  // another definition, from here on. Looks now and then: it is late by an
  // eighth of the thread's age, at most by a millisecond. `stamp`: now. The
  // event ring has the definitions: nothing happens where no GIL guards it.
  void LookAtName(HotState& hot, uint64_t stamp) {
    if (!kTracesCalls) return;
    if (__builtin_expect(IsNameOld(stamp), 0)) LookAtNameSlow(hot, stamp);
  }
  // At its next event, or this one: it is getting another name.
  static void LookSoon() { t_look_after = 0; }
  static bool IsNameOld(uint64_t stamp) {
    return stamp - t_looked >= t_look_after;
  }

  // Whether the calling thread, defined, passes --thread.
  static bool CurrentPasses();

 private:
  // By which names are looked up; all null where they could not be made.
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

  // When its name was looked at, and how long to wait before it is again.
  static constinit thread_local uint64_t t_looked;
  static constinit thread_local uint64_t t_look_after;

  const Filters& filters_;
  uint32_t last_id_ = 0;
  Keys keys_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CODE_THREAD_REGISTRY_H_
