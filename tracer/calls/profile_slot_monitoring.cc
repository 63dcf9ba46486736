// ProfileSlot for CPython 3.12 and later. The interpreter's own monitoring tool
// for profilers calls the callbacks of the tracer, which call those of the
// interpreter if the script has a profiler. Both get all events, so there are
// no profiler gaps.
#include "tracer/calls/profile_slot.h"

#ifdef PYMEMRUN_MONITORING
#include <atomic>

#include "tracer/base/clock.h"
#include "tracer/calls/monitoring_callbacks.h"
#include "tracer/cpython/lifetime.h"
#include "tracer/cpython/monitoring_view.h"
#include "tracer/cpython/slot_watch.h"

namespace pymemrun {
namespace {

constinit ProfileSlot* g_slot = nullptr;

// Whether a call of Name() is pending in the interpreter.
constinit std::atomic<bool> g_is_asked = false;

bool InMainInterpreter() {
  return PyThreadState_GetInterpreter(PyThreadState_Get()) ==
         PyInterpreterState_Main();
}

}  // namespace

struct SlotHooks {
  // The callback before and after the user's code.
  template <PymemrunCallback kCallback>
  static PyObject* Watching(PyObject* self, PyObject* const* args,
                            size_t nargsf, PyObject* names) {
    const ProfileSlot& slot = *g_slot;
    const bool traced = PyThreadState_Get() == slot.watched_
                            ? TellWatcher<kCallback>(args, nargsf)
                            : slot.hook_ != nullptr;
    if (traced) return slot.hook_->on[kCallback](self, args, nargsf, names);
    return OwnProfiler::Tell(kCallback, self, args, nargsf);
  }

  // CALL also comes for callables that are no C functions; these are no events.
  template <PymemrunCallback kCallback>
  static bool TellWatcher(PyObject* const* args, size_t nargsf) {
    CalledFunction called = {};
    if (kCallback >= kPymemrunCall && !CFunctionOf(args, nargsf, &called)) {
      return false;
    }
    const SlotWatcher& watcher = g_slot->watcher_;
    return watcher.on_event(watcher.context,
                            PymemrunTopFrame(PyThreadState_Get()),
                            EventOf(kCallback), called.module);
  }

  // A pending call: runs when the thread that has taken the GIL next runs
  // Python code.
  static int Name(void*) {
    g_is_asked.store(false, std::memory_order_relaxed);
    HotState& hot = Hot();
    if (hot.page != nullptr && g_slot->only_names_) {
      g_slot->threads_.LookAtName(hot, TimeStamp(hot.time_is_tsc));
    }
    return 0;
  }
};

namespace {

constexpr PymemrunCallbacks kWatching = {
    {SlotHooks::Watching<kPymemrunStart>, SlotHooks::Watching<kPymemrunThrow>,
     SlotHooks::Watching<kPymemrunReturn>, SlotHooks::Watching<kPymemrunUnwind>,
     SlotHooks::Watching<kPymemrunCall>, SlotHooks::Watching<kPymemrunCReturn>,
     SlotHooks::Watching<kPymemrunCRaise>}};

}  // namespace

void ProfileSlot::Use() {
  if (g_slot != nullptr) return;
  g_slot = this;
  PymemrunWatchSlots(Changed);
}

// Installs the callbacks that are wanted now, or the interpreter's own.
void ProfileSlot::Install() {
  const bool wanted = hook_ != nullptr || watcher_.on_event != nullptr;
  const bool was_on = PymemrunMonitoringOn() != 0;
  stacks_.EventsMissed();
  stacks_.HeardBy(watcher_.on_event == nullptr ? hook_ : nullptr);
  if (wanted && !was_on) PymemrunMonitoringSwitch(1);
  if (wanted || was_on) {
    PymemrunMonitoringInstall(watcher_.on_event != nullptr ? &kWatching
                              : hook_ != nullptr
                                  ? hook_
                                  : PymemrunMonitoringOriginal());
  }
  if (!wanted && was_on) PymemrunMonitoringSwitch(0);
}

void ProfileSlot::ArmAll(PymemrunHook hook) {
  if (!InMainInterpreter()) return;
  Use();
  hook_ = hook;
  only_names_ = false;
  // The next event may be the return of a call that was not seen.
  Hot().last_function = nullptr;
  Hot().event_users = PymemrunMonitoringUsers();
  PymemrunWatchSysSetprofile();
  MonitoringView::Hide();
  Install();
}

void ProfileSlot::DisarmAll() {
  if (!InMainInterpreter()) return;
  hook_ = nullptr;
  Install();
}

// `renames` does not matter here, as a look allocates nothing.
void ProfileSlot::NameThreads(bool) {
  Use();
  threads_.Define(Hot(), nullptr);
  only_names_ = true;
  g_is_asked.store(false, std::memory_order_relaxed);  // in a parent, perhaps
}

bool ProfileSlot::Watch(const SlotWatcher& watcher) {
  Use();
  watcher_ = watcher;
  watched_ = PyThreadState_Get();
  Install();
  return true;
}

void ProfileSlot::Unwatch() {
  watcher_ = {};
  Install();
}

void ProfileSlot::Leave() {
  if (g_slot == nullptr) return;
  g_slot->watcher_ = {};
  g_slot->hook_ = nullptr;
  g_slot->Install();
}

// The thread has no state yet, so only a pending call can be requested here.
void ProfileSlot::OnGilTaken() {
  const HotState& hot = Hot();
  if (g_slot == nullptr || !g_slot->only_names_ || hot.page == nullptr) return;
  const bool is_due =
      t_thread_id == 0 || ThreadRegistry::IsNameOld(TimeStamp(hot.time_is_tsc));
  if (!is_due || PymemrunIsFinalizing() != 0 ||
      g_is_asked.exchange(true, std::memory_order_relaxed)) {
    return;
  }
  if (!PymemrunCallSoon(SlotHooks::Name)) {
    g_is_asked.store(false, std::memory_order_relaxed);
  }
}

void ProfileSlot::Changed(PyThreadState* tstate, Py_tracefunc func) {
  if (func == nullptr && tstate == PyThreadState_Get()) OwnProfiler::Ended();
}

}  // namespace pymemrun
#endif  // PYMEMRUN_MONITORING
