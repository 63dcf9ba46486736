// The end of a traced program: exit() or return from main.
#ifndef PYMEMRUN_LAUNCHER_SESSION_EXIT_REPORT_H_
#define PYMEMRUN_LAUNCHER_SESSION_EXIT_REPORT_H_

#include <string>

#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// Installs a C exit handler that ends the session with the exit status, waits
// for the complete run file, and prints the end report unless `quiet`. Does
// nothing in forked children. Ends without exit handlers (_exit, exec, a signal
// other than that of ReportBeforeSignal) print nothing. `page` must stay
// mapped; `output` is the path of the run file for messages. Call it before
// Python is initialised, because handlers installed later run earlier; and
// again in a traced forked child.
void InstallExitReport(ControlPage* page, const std::string& output,
                       bool quiet);

// Installs a C exit handler that prints sizes of allocations, if they were
// counted. Does nothing in forked children.
void InstallSizesReport();

// Ends the session and prints the report just before `signal` ends the process.
// Does nothing without an installed report or in another process.
void ReportBeforeSignal(int signal);

// After an uncaught KeyboardInterrupt Py_RunMain finalises the interpreter and
// sends SIGINT to the process. Blocking that signal leaves time for the report;
// the process dies once it is unblocked. If other threads are left, the kernel
// gives it to one of them: then there is no report.
//
// For Py_AtExit: functions installed first are called last.
void HoldInterrupt();
// Unblocks the signal, after Py_RunMain.
void LetInterruptGo();

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_SESSION_EXIT_REPORT_H_
