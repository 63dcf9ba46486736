// The launcher's work where the interpreter is not part of pymemrun.
#ifndef PYMEMRUN_LAUNCHER_PRELOADED_PRELOADED_RUN_H_
#define PYMEMRUN_LAUNCHER_PRELOADED_PRELOADED_RUN_H_

namespace pymemrun {

using ProgramMain = int(int argc, char** argv, char** environment);

// Calls an interpreter's `main`, and before it does what the launcher itself
// does where it embeds one, as the handover (handover.h) says. Without one it
// only calls. Returns what main does, or 2 where the program may not run.
// REQUIRES: one thread, the interpreter is not initialised.
int RunPreloadedMain(ProgramMain* program, int argc, char** argv,
                     char** environment);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_PRELOADED_PRELOADED_RUN_H_
