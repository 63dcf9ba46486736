// Asks a traced program, from outside, for a dump of its objects.
#ifndef PYMEMRUN_READERS_OBJECTS_ASK_ASK_FOR_DUMP_H_
#define PYMEMRUN_READERS_OBJECTS_ASK_ASK_FOR_DUMP_H_

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace pymemrun {

// A complete dump.
struct DumpMade {
  std::string path;  // not escaped
  uint64_t pause_us = 0, duration_us = 0;
  uint64_t objects = 0, file_bytes = 0;
};

// Waits for the dump, at most `timeout`. Fails with one line for the user: why
// there is no dump, or only a part of one.
absl::StatusOr<DumpMade> AskForDump(pid_t pid, absl::Duration timeout);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_ASK_ASK_FOR_DUMP_H_
