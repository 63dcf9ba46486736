// Which frames of a run file a reader of some times reads: those that its
// index, or else a scan of its frames, says hold such times, and those that
// hold definitions. StreamReader and ReadStream() keep to a plan that they are
// given.
#ifndef PYMEMRUN_FORMAT_STREAM_READ_PLAN_H_
#define PYMEMRUN_FORMAT_STREAM_READ_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "format/stream/byte_io.h"
#include "format/stream/record_span.h"

namespace pymemrun {

// Serves one reading of the file. Not thread safe.
//
// A wrong index cannot hide where frames begin. What is left out begins where
// reading has come to. It was found to be whole frames, up to where reading
// goes on.
class ReadPlan {
 public:
  static constexpr uint64_t kNothing = std::numeric_limits<uint64_t>::max();

  // A plan for the rows and other facts from `from_us` to `to_us`, both
  // included, of a file of `size_bytes`. A file without an index is read once
  // to make one, without its rows. Null: nothing can be left out, or the file
  // has no index and is damaged. Fails when the index is wrong: then everything
  // has to be read. `source` is at its begin afterwards.
  static absl::StatusOr<std::unique_ptr<ReadPlan>> Create(ByteSource* source,
                                                          uint64_t size_bytes,
                                                          uint64_t from_us,
                                                          uint64_t to_us);

  // A plan for a reader of neither rows nor heap events, which are not given.
  static std::unique_ptr<ReadPlan> WithoutEvents();
  bool wants_events() const { return wants_events_; }

  // Where to read on, given where the next frame begins; kNothing: nowhere.
  // Offsets must rise from call to call.
  uint64_t NextWanted(uint64_t offset);
  // Whether rows of the frame at `offset` may be of these times.
  bool WantsRows(uint64_t offset) const { return offset >= rows_from_; }
  // NextWanted() has said kNothing.
  bool ended() const { return ended_; }

 private:
  using Range = std::pair<uint64_t, uint64_t>;  // begin, end

  void Make(const std::vector<FrameSpan>& spans, uint64_t from_us,
            uint64_t to_us);
  absl::Status CheckSkipped(ByteSource* source) const;

  std::vector<Range> skipped_;  // a span each, rising
  size_t next_skipped_ = 0;
  uint64_t rows_from_ = 0;
  uint64_t end_ = kNothing;  // nothing from here on is wanted
  bool ended_ = false;
  bool wants_events_ = true;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_STREAM_READ_PLAN_H_
