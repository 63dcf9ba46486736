// Writes large runs with heap events, for tests and to measure the readers
// with. Not part of the library.
#ifndef PYMEMRUN_READERS_TESTING_HEAP_RUN_BUILDER_H_
#define PYMEMRUN_READERS_TESTING_HEAP_RUN_BUILDER_H_

#include <cstdint>

#include "format/stream/byte_io.h"

namespace pymemrun {

// Some `events` heap events as of `--heap all`, 10 to a microsecond: most
// blocks are freed at once. One in 16 stays until 64 Ki of them are there; then
// three quarters of these go. 512 stacks, up to 12 frames deep.
void BuildLargeHeapRun(uint64_t events, ByteSink* sink);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TESTING_HEAP_RUN_BUILDER_H_
