// What happens when the traced program calls exit() or returns from main.
#ifndef PYMEMRUN_LAUNCHER_SESSION_EXIT_REPORT_H_
#define PYMEMRUN_LAUNCHER_SESSION_EXIT_REPORT_H_

#include <string>

#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// Installs the C exit handler that ends the session with the exit status, waits
// for the run file to be complete, and prints the end report unless `quiet`.
// In forked children it does nothing. Ends that run no exit handlers (_exit, a
// signal other than that of ReportBeforeSignal, exec) print nothing. `page`
// must stay mapped; `output` is the run file's path, for messages. To be called
// before Python is initialised: handlers installed later run earlier. Again in
// a forked child that is traced.
void InstallExitReport(ControlPage* page, const std::string& output,
                       bool quiet);

// Installs the C exit handler that prints the sizes of allocations, where they
// were counted. In forked children it does nothing.
void InstallSizesReport();

// Ends the session and prints the report just before `signal` ends the process.
// Does nothing without an installed report, or in another process.
void ReportBeforeSignal(int signal);

// After an interrupt that nothing caught Py_RunMain finalises the interpreter
// and sends SIGINT to the process. Held back from then on, it leaves time for
// the report; the process dies of it when it is let go. While other threads are
// left, the kernel gives it to one of them: then there is no report.
//
// For Py_AtExit: those that were installed first are called last.
void HoldInterrupt();
// After Py_RunMain.
void LetInterruptGo();

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_SESSION_EXIT_REPORT_H_
