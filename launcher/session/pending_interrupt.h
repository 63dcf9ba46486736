// After an interrupt that nothing caught Py_RunMain finalises the interpreter
// and sends SIGINT to the process. Held back from then on, it leaves time for
// the report; the process dies of it when it is let go. While other threads are
// left, the kernel gives it to one of them: then there is no report.
#ifndef PYMEMRUN_LAUNCHER_SESSION_PENDING_INTERRUPT_H_
#define PYMEMRUN_LAUNCHER_SESSION_PENDING_INTERRUPT_H_

namespace pymemrun {

// For Py_AtExit: those that were installed first are called last.
void HoldInterrupt();
// After Py_RunMain.
void LetInterruptGo();

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_SESSION_PENDING_INTERRUPT_H_
