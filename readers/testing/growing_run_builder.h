// Runs of programs that grow in different ways, of any length: whether the
// readers' time and memory are linear in the file. Not part of the library.
#ifndef PYMEMRUN_READERS_TESTING_GROWING_RUN_BUILDER_H_
#define PYMEMRUN_READERS_TESTING_GROWING_RUN_BUILDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "format/stream/byte_io.h"

namespace pymemrun {

std::vector<std::string> GrowingRunNames();
// False: there is no such run. The file grows with `count` as a line does.
bool BuildGrowingRun(absl::string_view name, uint64_t count, ByteSink* sink);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TESTING_GROWING_RUN_BUILDER_H_
