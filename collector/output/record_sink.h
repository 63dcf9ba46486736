// Destination of finished records: the run file, or memory in tests.
#ifndef PYMEMRUN_COLLECTOR_OUTPUT_RECORD_SINK_H_
#define PYMEMRUN_COLLECTOR_OUTPUT_RECORD_SINK_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "format/trace.pb.h"

namespace pymemrun {

// Number of rows and events in records.
struct RowCounts {
  uint64_t rows = 0;
  uint64_t context = 0;  // part of rows
  uint64_t heap_events = 0;
  uint64_t page_events = 0;

  bool is_nothing() const {
    return rows == 0 && context == 0 && heap_events == 0 && page_events == 0;
  }
  RowCounts& operator+=(const RowCounts& more) {
    rows += more.rows;
    context += more.context;
    heap_events += more.heap_events;
    page_events += more.page_events;
    return *this;
  }
  RowCounts& operator-=(const RowCounts& less) {
    rows -= less.rows;
    context -= less.context;
    heap_events -= less.heap_events;
    page_events -= less.page_events;
    return *this;
  }
};

// Takes records in order. Not thread-safe. Cannot fail for the caller, because
// the ring must be drained in any case: an implementation counts what it could
// not keep.
class RecordSink {
 public:
  virtual ~RecordSink() = default;

  // Takes one serialised pymemrun.Record. `holds` counts its rows and events.
  // The bytes are valid during the call.
  virtual void Write(absl::string_view record, RowCounts holds) = 0;

  void Write(const Record& record) { Write(record.SerializeAsString(), {}); }
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_OUTPUT_RECORD_SINK_H_
