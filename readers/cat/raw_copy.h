// pymemcat --raw: the records of a run file as a plain stream.
#ifndef PYMEMRUN_READERS_CAT_RAW_COPY_H_
#define PYMEMRUN_READERS_CAT_RAW_COPY_H_

#include "absl/status/status.h"
#include "format/records/record_visitor.h"
#include "format/stream/byte_io.h"
#include "readers/output/output_buffer.h"

namespace pymemrun {

// Copies every readable record of the run, each after its length as a varint.
// Fails as ReadStream() does: if the source is not a run file, or of a newer
// format. Calls OnHeader() and OnDamage() of `watcher`, and OnFooter(), with an
// empty footer, after the footer has been copied.
absl::Status CopyRaw(ByteSource* source, OutputBuffer* output,
                     RecordVisitor* watcher, ReadResult* result);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_CAT_RAW_COPY_H_
