// The name that a finished run is kept under when a new one takes its place.
#ifndef PYMEMRUN_COLLECTOR_OUTPUT_RUN_NAME_H_
#define PYMEMRUN_COLLECTOR_OUTPUT_RUN_NAME_H_

#include <string>

#include "absl/status/statusor.h"
#include "format/stream/byte_io.h"

namespace pymemrun {

// "YYYYMMDD_HHMMSS_PID" of the run file that `source` gives: local time of its
// start. Fails when it is no run file.
absl::StatusOr<std::string> RunName(ByteSource* source);

// For `pymemrun-collector --name-of PATH`: prints it. Returns the exit code.
int PrintRunName(const char* path);

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_OUTPUT_RUN_NAME_H_
