// How the collector leaves the company it was started in.
#ifndef PYMEMRUN_COLLECTOR_PROCESS_DETACH_H_
#define PYMEMRUN_COLLECTOR_PROCESS_DETACH_H_

namespace pymemrun {

// Makes this process independent of the traced one and of whoever started it:
// keeps only descriptors 0 to `last_fd`, leads its own session, ignores what a
// terminal or a shell sends to whole groups. What the system refuses is left.
void DetachFromProgram(int last_fd);
// Where the system allows it: the kernel kills the program before this process
// when memory runs out.
void OutliveProgram();
// For a thread that drains what fills without waiting for it. What the system
// refuses is left.
void AskToWakePromptly();

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PROCESS_DETACH_H_
