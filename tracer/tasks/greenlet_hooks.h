// When greenlets run (--trace tasks): what is called around each switch.
#ifndef PYMEMRUN_TRACER_TASKS_GREENLET_HOOKS_H_
#define PYMEMRUN_TRACER_TASKS_GREENLET_HOOKS_H_

namespace pymemrun {

class GreenletHooks {
 public:
  // Switches are recorded from here on. Once. GIL.
  static void Begin();
  // In a forked child: what its parent knew does not count.
  static void ForgetThread();
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_TASKS_GREENLET_HOOKS_H_
