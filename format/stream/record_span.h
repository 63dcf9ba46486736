// What a piece of a run file holds, seen from outside: when, which events, and
// whether readers that skip its rows must read it all the same. A span
// is a record, a frame or several frames in a row. The index of frames is made
// of spans.
#ifndef PYMEMRUN_FORMAT_STREAM_RECORD_SPAN_H_
#define PYMEMRUN_FORMAT_STREAM_RECORD_SPAN_H_

#include <cstdint>
#include <limits>

#include "absl/strings/string_view.h"

namespace pymemrun {

struct FrameSpan {
  uint64_t bytes = 0;  // of the file
  // Times of rows and of whatever else has one; timed() only.
  uint64_t first_us = std::numeric_limits<uint64_t>::max();
  uint64_t last_us = 0;
  // Event numbers of the rows; has_rows() only.
  uint64_t first_number = 0;
  uint64_t end_number = 0;  // the last one + 1
  // Holds what readers of any later row must know: header, definitions, kinds
  // not known here.
  bool needed = false;
  // The last row is context of a row in a later span.
  bool ends_in_context = false;
  bool only_context = false;  // all rows are

  bool timed() const { return first_us <= last_us; }
  bool has_rows() const { return first_number != end_number; }
  // Takes in the span that follows this one.
  void Join(const FrameSpan& next);
};

// What one serialised pymemrun.Record holds; `bytes` stays 0. A record that is
// not understood is needed, a batch that is not is of any time.
FrameSpan SpanOfRecord(absl::string_view record);

// Whether the record is an EventBatch, a PageBatch, a Residency or a HeapBatch:
// it holds rows and nothing that those of other times need.
bool HoldsRowsOnly(absl::string_view record);
// Whether a record is a batch of rows or heap events.
bool HoldsEvents(absl::string_view record);
bool HoldsHeap(absl::string_view record);  // events of the heap

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_STREAM_RECORD_SPAN_H_
