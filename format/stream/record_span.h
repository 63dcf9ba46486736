// Summary of a part of a run file: its times, its event numbers, and whether
// every reader needs it. A span is a record, a frame or several consecutive
// frames. The index of frames consists of spans.
#ifndef PYMEMRUN_FORMAT_STREAM_RECORD_SPAN_H_
#define PYMEMRUN_FORMAT_STREAM_RECORD_SPAN_H_

#include <cstdint>
#include <limits>

#include "absl/strings/string_view.h"

namespace pymemrun {

struct FrameSpan {
  uint64_t bytes = 0;  // in the file
  // Times of rows and of other timed records, in microseconds. Valid if
  // timed().
  uint64_t first_us = std::numeric_limits<uint64_t>::max();
  uint64_t last_us = 0;
  // Event numbers of the rows. Valid if has_rows().
  uint64_t first_number = 0;
  uint64_t end_number = 0;  // the last one + 1
  // Readers of any later row need it: header, definitions, unknown kinds.
  bool needed = false;
  // The last row is context for a row in a later span.
  bool ends_in_context = false;
  bool only_context = false;  // all rows are context

  bool timed() const { return first_us <= last_us; }
  bool has_rows() const { return first_number != end_number; }
  // Extends this span by the one that follows it.
  void Join(const FrameSpan& next);
};

// Returns the span of one serialised pymemrun.Record; `bytes` stays 0. A record
// that cannot be parsed counts as needed. A batch that cannot be parsed counts
// for all times.
FrameSpan SpanOfRecord(absl::string_view record);

// Whether the record is an EventBatch, PageBatch, Residency or HeapBatch: other
// records do not need it.
bool HoldsRowsOnly(absl::string_view record);
// Whether the record is a batch of rows or of heap events.
bool HoldsEvents(absl::string_view record);
bool HoldsHeap(absl::string_view record);  // a batch of heap events

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_STREAM_RECORD_SPAN_H_
