// What a reader does when memory runs out: prints one line, and exits with 1.
#ifndef PYMEMRUN_READERS_OPTIONS_OUT_OF_MEMORY_H_
#define PYMEMRUN_READERS_OPTIONS_OUT_OF_MEMORY_H_

namespace pymemrun {

// Takes effect from now on, in the whole process. `tool` is a string literal.
void EndPlainlyWithoutMemory(const char* tool);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OPTIONS_OUT_OF_MEMORY_H_
