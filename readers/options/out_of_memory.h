// What a reader does when there is no memory: one line and exit code 1.
#ifndef PYMEMRUN_READERS_OPTIONS_OUT_OF_MEMORY_H_
#define PYMEMRUN_READERS_OPTIONS_OUT_OF_MEMORY_H_

namespace pymemrun {

// From here on, in the whole process. `tool` is a literal.
void EndPlainlyWithoutMemory(const char* tool);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OPTIONS_OUT_OF_MEMORY_H_
