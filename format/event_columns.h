// Builds an EventBatch from rows: the inverse of what RecordDecoder does. Used
// by tests and generators; the collector has an encoder of its own that never
// holds rows.
#ifndef PYMEMRUN_FORMAT_EVENT_COLUMNS_H_
#define PYMEMRUN_FORMAT_EVENT_COLUMNS_H_

#include "absl/types/span.h"
#include "format/record_visitor.h"
#include "format/trace.pb.h"

namespace pymemrun {

// Replaces what is in `batch`. Row.what is not stored: the site has it.
// REQUIRES: numbers rise, times do not sink. With `stacks` each row's stack is
// stored.
void EncodeRows(absl::Span<const Row> rows, bool stacks, EventBatch* batch);

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_EVENT_COLUMNS_H_
