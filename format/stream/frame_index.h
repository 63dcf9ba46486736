// The index of a run file's frames, which stands behind the last of them, in a
// skippable frame: FORMAT.md says how. StreamWriter writes it, ReadPlan reads
// it. It is never needed, and whoever uses it checks what it says.
#ifndef PYMEMRUN_FORMAT_STREAM_FRAME_INDEX_H_
#define PYMEMRUN_FORMAT_STREAM_FRAME_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "format/stream/byte_io.h"
#include "format/stream/frame_codec.h"
#include "format/stream/record_span.h"

namespace pymemrun {

// Collects the spans of a file as it is written. Not thread safe.
class FrameIndexBuilder {
 public:
  // The memory taken is bounded by this, and so is the index: beyond it spans
  // become longer.
  static constexpr size_t kMaxSpans = 16384;

  explicit FrameIndexBuilder(size_t max_spans = kMaxSpans)
      : max_spans_(max_spans) {}
  // A record of the frame under way.
  void AddRecord(absl::string_view record) { open_.Join(SpanOfRecord(record)); }
  // The frame was written, and has that many bytes.
  void EndFrame(size_t bytes);
  const std::vector<FrameSpan>& spans() const { return spans_; }

 private:
  void HalveSpans();

  const size_t max_spans_;
  std::vector<FrameSpan> spans_;
  FrameSpan open_;
  uint64_t frames_per_span_ = 1;
  uint64_t frames_in_last_ = 0;
};

// The skippable frame that holds `spans`.
absl::StatusOr<std::string> EncodeFrameIndex(
    const std::vector<FrameSpan>& spans, FrameCompressor* compressor);

// The spans of a file of `size_bytes`, which cover it from its begin up to its
// index. nullopt: the file has no index, or the file is several put together,
// and its index covers only the last. Fails, saying why, if the index cannot be
// right. Leaves the source anywhere.
absl::StatusOr<std::optional<std::vector<FrameSpan>>> ReadFrameIndex(
    ByteSource* source, uint64_t size_bytes);

// Reads exactly `size` bytes from `offset` on, fewer only at the end.
absl::StatusOr<std::string> ReadBytesAt(ByteSource* source, uint64_t offset,
                                        size_t size);

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_STREAM_FRAME_INDEX_H_
