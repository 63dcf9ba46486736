#include "readers/output/output_buffer.h"

namespace pymemrun {

absl::Status OutputBuffer::Flush() {
  const size_t size = next_ - memory_.get();
  next_ = memory_.get();
  if (size > 0 && status_.ok()) status_ = sink_->Append({memory_.get(), size});
  return status_;
}

// Text larger than the buffer goes to the sink at once, after what was before
// it.
void OutputBuffer::AppendLarge(absl::string_view text) {
  Flush().IgnoreError();
  if (text.size() > kCapacity) {
    if (status_.ok()) status_ = sink_->Append(text);
    return;
  }
  Append(text);
}

}  // namespace pymemrun
