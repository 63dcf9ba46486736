// When the interpreter begins to finalise. The program is over then: its main
// module, its threads but daemons, and the functions that it gave to `atexit`.
// What is freed from here on is freed because the process ends.
#ifndef PYMEMRUN_TRACER_FINALIZATION_H_
#define PYMEMRUN_TRACER_FINALIZATION_H_

namespace pymemrun {

class Finalization {
 public:
  // Whether the collector will be told: only where the interpreter is part of
  // the executable.
  static bool IsSeen();
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_FINALIZATION_H_
