// The order of things in a run of `pymemrun`; its main calls this and no more.
#ifndef PYMEMRUN_LAUNCHER_APPLICATION_H_
#define PYMEMRUN_LAUNCHER_APPLICATION_H_

namespace pymemrun {

// Reads the options, chooses the python, starts tracing where user code will
// run, and runs the interpreter. Returns the exit status: the program's own, 2
// for wrong usage of pymemrun. REQUIRES: called first in main, by one thread.
int RunApplication(int argc, char** argv);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_APPLICATION_H_
