// Writes run files that ask as much of their readers as a record can, for
// tests. Not part of the library.
#ifndef PYMEMRUN_READERS_TESTING_HOSTILE_RUN_BUILDER_H_
#define PYMEMRUN_READERS_TESTING_HOSTILE_RUN_BUILDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "format/stream/byte_io.h"

namespace pymemrun {

// One name for each way in which few bytes could cause much work.
std::vector<std::string> HostileRunNames();

// Builds the run of that name, with `count` such records or entries. False: no
// run has that name.
bool BuildHostileRun(absl::string_view name, uint64_t count, ByteSink* sink);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TESTING_HOSTILE_RUN_BUILDER_H_
