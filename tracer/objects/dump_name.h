// The names of the files of dumps.
#ifndef PYMEMRUN_TRACER_OBJECTS_DUMP_NAME_H_
#define PYMEMRUN_TRACER_OBJECTS_DUMP_NAME_H_

#include <cstddef>
#include <cstdint>

namespace pymemrun {

// `run.obj.pb` of `run.pb`, then `run.obj-1.pb`, ... Returns false where it is
// too long. Async-signal-safe.
bool DumpName(const char* run, uint32_t number, char* path, size_t size);

// Whether two such names are of the same run file.
bool AreDumpsOfOneRun(const char* one, const char* other);

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_OBJECTS_DUMP_NAME_H_
