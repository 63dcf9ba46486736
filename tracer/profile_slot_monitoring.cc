// ProfileSlot for CPython 3.12 and later: the callbacks of the interpreter's
// own tool for profilers call ours, which call the interpreter's where the
// script has a profiler. Nobody steps aside, so there are no profiler gaps.
#include "tracer/monitoring_callbacks.h"
#include "tracer/monitoring_view.h"
#include "tracer/profile_slot.h"
#include "tracer/slot_watch.h"

namespace pymemrun {
namespace {

PymemrunHook g_hook = nullptr;  // null: not armed

ProfileSlot::Watcher g_watcher = nullptr;
PyThreadState* g_watched = nullptr;  // whose events g_watcher is told

bool InMainInterpreter() {
  return PyThreadState_GetInterpreter(PyThreadState_Get()) ==
         PyInterpreterState_Main();
}

// Before and after the user's code.
template <PymemrunCallback kCallback>
PyObject* Watching(PyObject* self, PyObject* const* args, size_t nargsf,
                   PyObject* names) {
  PyThreadState* tstate = PyThreadState_Get();
  const bool traced = tstate == g_watched ? g_watcher(PymemrunTopFrame(tstate),
                                                      EventOf(kCallback))
                                          : g_hook != nullptr;
  if (traced) return g_hook->on[kCallback](self, args, nargsf, names);
  return OwnProfiler::Tell(kCallback, self, args, nargsf);
}

constexpr PymemrunCallbacks kWatching = {
    {Watching<kPymemrunStart>, Watching<kPymemrunThrow>,
     Watching<kPymemrunReturn>, Watching<kPymemrunUnwind>,
     Watching<kPymemrunCall>, Watching<kPymemrunCReturn>,
     Watching<kPymemrunCRaise>}};

// Brings the interpreter's callbacks in line with what is wanted.
void Install() {
  const bool wanted = g_hook != nullptr || g_watcher != nullptr;
  const bool was_on = PymemrunMonitoringOn() != 0;
  if (wanted && !was_on) PymemrunMonitoringSwitch(1);
  if (wanted || was_on) {
    PymemrunMonitoringInstall(g_watcher != nullptr ? &kWatching
                              : g_hook != nullptr
                                  ? g_hook
                                  : PymemrunMonitoringOriginal());
  }
  if (!wanted && was_on) PymemrunMonitoringSwitch(0);
}

}  // namespace

void ProfileSlot::ArmAll(PymemrunHook hook) {
  if (!InMainInterpreter()) return;
  g_hook = hook;
  // The next event may be the return of a call that was not seen.
  Hot().last_function = nullptr;
  Hot().event_users = PymemrunMonitoringUsers();
  SlotWatch::Begin();
  MonitoringView::Hide();
  Install();
}

void ProfileSlot::DisarmAll() {
  if (!InMainInterpreter()) return;
  g_hook = nullptr;
  Install();
}

void ProfileSlot::NameThreads() {}

bool ProfileSlot::armed() { return g_hook != nullptr; }

void ProfileSlot::Watch(Watcher watcher) {
  g_watcher = watcher;
  g_watched = PyThreadState_Get();
  Install();
}

void ProfileSlot::Unwatch() {
  g_watcher = nullptr;
  Install();
}

void ProfileSlot::Leave() {
  g_watcher = nullptr;
  g_hook = nullptr;
  Install();
}

void ProfileSlot::OnGilTaken() {}  // threads share one place

void ProfileSlot::Changed(PyThreadState* tstate, Py_tracefunc func) {
  if (func == nullptr && tstate == PyThreadState_Get()) OwnProfiler::Ended();
}

}  // namespace pymemrun
