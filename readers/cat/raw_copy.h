// pymemcat --raw: the records of a run file as a plain stream.
#ifndef PYMEMRUN_READERS_CAT_RAW_COPY_H_
#define PYMEMRUN_READERS_CAT_RAW_COPY_H_

#include "absl/status/status.h"
#include "format/records/record_visitor.h"
#include "format/stream/byte_io.h"
#include "readers/output/output_buffer.h"

namespace pymemrun {

// Copies every readable record of the run, each after its length as a varint.
// Fails as
// ReadStream() does: when the source is no run file, or of a newer format.
// Of `watcher` OnHeader(), OnDamage() and, once the footer has been copied,
// OnFooter() are called, this with an empty one.
absl::Status CopyRaw(ByteSource* source, OutputBuffer* output,
                     RecordVisitor* watcher, ReadResult* result);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_CAT_RAW_COPY_H_
