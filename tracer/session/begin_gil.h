// How a run's events of the GIL begin, or of what an interpreter has instead.
#ifndef PYMEMRUN_TRACER_SESSION_BEGIN_GIL_H_
#define PYMEMRUN_TRACER_SESSION_BEGIN_GIL_H_

namespace pymemrun {

// Whether the interpreter has locks instead of a GIL.
bool IsFreeThreaded();

// What --trace gil and --trace tasks hear of comes from here on. `say` prints a
// line of what could not be recorded. The calling thread holds the GIL, where
// there is one. REQUIRES: the side ring is open, and the clocks were compared.
void BeginGil(void (*say)(const char* line));

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_SESSION_BEGIN_GIL_H_
