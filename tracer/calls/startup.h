// When tracing begins: at the last moment before the user's code. A one-time
// audit hook hears that the interpreter is about to run the script; from then
// on a waiting callback looks for the first frame of the user's, and only that
// event is number 0. Under `-m`, and for directories and zip files, the frames
// of runpy below the user's are never shown.
#ifndef PYMEMRUN_TRACER_CALLS_STARTUP_H_
#define PYMEMRUN_TRACER_CALLS_STARTUP_H_

#include "tracer/base/hot_state.h"
#include "tracer/base/trace_config.h"
#include "tracer/calls/profile_slot.h"
#include "tracer/cpython/compat.h"

namespace pymemrun {

class EventLog;

class Startup {
 public:
  // What to do when the moment comes: begins the session and returns whether
  // events are to be recorded now (false with --paused).
  using BeginFunction = bool (*)();

  constexpr Startup(ProfileSlot& slot, const EventLog& log)
      : slot_(slot), log_(log) {}

  // Before Py_InitializeFromConfig.
  void Watch(const TraceConfig* config, BeginFunction begin);

  const TraceConfig& config() const { return *config_; }
  // In a forked child whose tracing begins: the user's code ends where the
  // parent's does.
  void Resume(HotState& hot) const;

  // For the hooks: the user's outermost frame under runpy has returned.
  // Returns 0.
  int RootReturned(HotState& hot);
  // For the hooks: called while nothing is traced, in a forked child for
  // instance. Takes the hook out of this thread's slot. Returns 0.
  static int NotTracing();

 private:
  static int OnAudit(const char* event, PyObject* args, void* startup);
  static bool OnEvent(void* startup, const PymemrunFrame* frame, EventWhat what,
                      PyObject* module);
  void Audit(const char* event, PyObject* args);
  bool IsFirst(const PymemrunFrame* frame, EventWhat what);
  bool IsAfterRunpy(const PymemrunFrame* frame, EventWhat what);
  bool RunsPackageOfTarget(const PymemrunFrame* frame) const;
  void BeginWaiting();
  void WatchSlot() { slot_.Watch({OnEvent, this}); }

  ProfileSlot& slot_;
  const EventLog& log_;
  const TraceConfig* config_ = nullptr;
  BeginFunction begin_ = nullptr;
  bool begun_ = false;
  // The target of `-m`, empty for every other form. The user's code is then the
  // packages around it, which runpy imports first, and the module itself.
  char module_[1024] = {};
  bool under_runpy_ = false;
  bool root_is_target_ = false;  // the frame traced now is the target's own
  bool after_runpy_ = false;     // the target's frame has returned
  // As HotState has it, which a forked child finds empty.
  const void* root_frame_ = nullptr;
  const void* root_code_ = nullptr;
  // runpy's outermost frame: when it returns, nothing of runpy's is left.
  const PymemrunFrame* runpy_frame_ = nullptr;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_CALLS_STARTUP_H_
