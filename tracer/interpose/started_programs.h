// Programs that the traced one starts or becomes: whether they will be traced.
#ifndef PYMEMRUN_TRACER_INTERPOSE_STARTED_PROGRAMS_H_
#define PYMEMRUN_TRACER_INTERPOSE_STARTED_PROGRAMS_H_

namespace pymemrun {

// Whether a program that gets this environment, which may be null, finds the
// tracer there. Async-signal-safe.
bool HasTracer(char* const* environment);

// Counts a child that runs another program, in the traced process or in a vfork
// child of it.
void CountStarted(char* const* environment);

// Says once that this process becomes a program that is not recorded. `path`:
// what is to run, nothing is said where that cannot be; null: not known.
void TellExec(const char* path);

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_INTERPOSE_STARTED_PROGRAMS_H_
