// Where the encoder's finished records go: the run file, or memory in tests.
#ifndef PYMEMRUN_COLLECTOR_RECORD_SINK_H_
#define PYMEMRUN_COLLECTOR_RECORD_SINK_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "format/trace.pb.h"

namespace pymemrun {

struct RowCounts {
  uint64_t rows = 0;
  uint64_t context = 0;  // of these
};

// Not thread safe. Cannot fail for the caller: whoever implements it counts
// what it could not keep, because the ring must be drained all the same.
class RecordSink {
 public:
  virtual ~RecordSink() = default;

  // Takes one serialised pymemrun.Record that holds so many rows. The bytes
  // are valid during the call.
  virtual void Write(absl::string_view record, RowCounts rows) = 0;

  void Write(const Record& record) { Write(record.SerializeAsString(), {}); }
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_RECORD_SINK_H_
