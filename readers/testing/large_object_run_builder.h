// Writes object dumps of any size, to measure readers with.
#ifndef PYMEMRUN_READERS_TESTING_LARGE_OBJECT_RUN_BUILDER_H_
#define PYMEMRUN_READERS_TESTING_LARGE_OBJECT_RUN_BUILDER_H_

#include <cstdint>

#include "format/stream/byte_io.h"

namespace pymemrun {

// This many nodes, 7 references to 6 of them, as in real dumps: a quarter are
// containers of 400 types, most others strings with a value. A tenth of the
// references lead anywhere. Always the same for the same number.
void BuildLargeObjectRun(uint64_t nodes, ByteSink* sink);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TESTING_LARGE_OBJECT_RUN_BUILDER_H_
