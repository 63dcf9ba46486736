// Reads a run that a test has built. For tests only.
#ifndef PYMEMRUN_READERS_REPLAY_MOMENTS_READING_FOR_TESTS_H_
#define PYMEMRUN_READERS_REPLAY_MOMENTS_READING_FOR_TESTS_H_

#include <string>

#include "format/records/record_visitor.h"
#include "format/stream/byte_io.h"
#include "readers/run/replay_visitor.h"

namespace pymemrun {

// Finishes the visitor. False: nothing could be read.
inline bool ReadInto(const std::string& bytes, ReplayVisitor* visitor) {
  StringSource source(bytes);
  ReadResult result;
  const absl::Status status =
      ReadStream(&source, StreamReader::Options(), visitor, &result);
  visitor->Finish();
  return status.ok();
}

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_MOMENTS_READING_FOR_TESTS_H_
