#include "format/stream/frame_index.h"

#include "absl/strings/str_cat.h"
#include "format/limits.h"
#include "format/stream/status_util.h"
#include "format/trace.pb.h"

namespace pymemrun {
namespace {

// The index is a skippable frame at the end of the file: header, compressed
// FrameIndex, trailer. The trailer has the size of the frame and a magic, so a
// reader finds the index from the end of the file. Other zstd tools skip it.
constexpr uint32_t kIndexVersion = 1;
constexpr uint32_t kIndexMagic = kSkippableMagic + 1;
constexpr absl::string_view kTrailerMagic = "pymemidx";
constexpr size_t kTrailerBytes = 4 + 8;  // size of the frame, magic
constexpr size_t kHeaderBytes = 8;       // of a skippable frame

absl::Status Wrong(absl::string_view expected, absl::string_view found) {
  return absl::DataLossError(
      absl::StrCat("expected ", expected, ", found ", found));
}

// Columns of differences compress well: neighbouring frames are close in time
// and number. A frame without times, or without rows, repeats the last value,
// so that its difference is 0.
FrameIndex MessageOf(const std::vector<FrameSpan>& spans) {
  FrameIndex index;
  index.set_version(kIndexVersion);
  uint64_t last_us = 0, last_number = 0;
  for (const FrameSpan& span : spans) {
    index.add_bytes(span.bytes);
    index.add_holds((span.needed ? FrameIndex::NEEDED : 0) |
                    (span.timed() ? FrameIndex::TIMED : 0) |
                    (span.ends_in_context ? FrameIndex::ENDS_IN_CONTEXT : 0) |
                    (span.only_context ? FrameIndex::ONLY_CONTEXT : 0));
    const uint64_t first_us = span.timed() ? span.first_us : last_us;
    index.add_first_us(static_cast<int64_t>(first_us - last_us));
    index.add_duration_us(span.timed() ? span.last_us - first_us : 0);
    const uint64_t number = span.has_rows() ? span.first_number : last_number;
    index.add_first_number(static_cast<int64_t>(number - last_number));
    index.add_numbers(span.end_number - span.first_number);
    last_us = first_us;
    last_number = number;
  }
  return index;
}

// Checks the columns and returns the spans. `covered` is the number of bytes
// before the index. Returns nullopt if the spans do not cover all of them: the
// file was changed, and everything must be read. Sums wrap modulo 2^64. A wrong
// time or number in an index makes a reader skip too much or too little, and
// never read outside the file.
absl::StatusOr<std::optional<std::vector<FrameSpan>>> SpansOf(
    const FrameIndex& index, uint64_t covered) {
  const int count = index.bytes_size();
  if (index.holds_size() != count || index.first_us_size() != count ||
      index.duration_us_size() != count || index.first_number_size() != count ||
      index.numbers_size() != count) {
    return Wrong("columns of one length", "others");
  }
  std::vector<FrameSpan> spans(static_cast<size_t>(count));
  uint64_t left = covered, us = 0, number = 0;
  for (int i = 0; i < count; ++i) {
    FrameSpan& span = spans[static_cast<size_t>(i)];
    span.bytes = index.bytes(i);
    if (span.bytes == 0 || span.bytes > left) {
      return Wrong(absl::StrCat("a span of 1 to ", left, " bytes"),
                   absl::StrCat(span.bytes));
    }
    left -= span.bytes;
    us += static_cast<uint64_t>(index.first_us(i));
    number += static_cast<uint64_t>(index.first_number(i));
    span.needed = (index.holds(i) & FrameIndex::NEEDED) != 0;
    span.ends_in_context = (index.holds(i) & FrameIndex::ENDS_IN_CONTEXT) != 0;
    span.only_context = (index.holds(i) & FrameIndex::ONLY_CONTEXT) != 0;
    if ((index.holds(i) & FrameIndex::TIMED) != 0) {
      span.first_us = us;
      span.last_us = us + index.duration_us(i);
      if (!span.timed()) return Wrong("times of 64 bits", "more");
    }
    span.first_number = number;
    span.end_number = number + index.numbers(i);
  }
  if (left != 0) return std::nullopt;
  return spans;
}

// Parses the message in the skippable frame `frame`.
absl::StatusOr<FrameIndex> ParseIndexFrame(absl::string_view frame) {
  if (LoadLe32(frame.data()) != kIndexMagic ||
      LoadLe32(frame.data() + 4) != frame.size() - kHeaderBytes) {
    return Wrong("a skippable frame of the size named last", "another");
  }
  // The file leaves out the magic of the inner frame. Otherwise a search for
  // frames after damage could find it.
  std::string inner;
  AppendLe32(kFrameMagic, &inner);
  inner.append(frame.data() + kHeaderBytes,
               frame.size() - kHeaderBytes - kTrailerBytes);
  FrameWalker walker({kMaxIndexBytes, kMaxWindowLog});
  const FrameWalker::Result result = walker.Walk(inner);
  RETURN_IF_ERROR(walker.status());
  if (result != FrameWalker::Result::kComplete ||
      walker.end() != inner.size()) {
    return Wrong("a zstd frame inside", "none");
  }
  FrameDecompressor decompressor;
  ASSIGN_OR_RETURN(const absl::string_view content,
                   decompressor.Decompress(inner, walker.content_bound()));
  FrameIndex index;
  if (!index.ParseFromArray(content.data(), static_cast<int>(content.size()))) {
    return Wrong("a pymemrun.FrameIndex", "none");
  }
  if (index.version() != kIndexVersion) {
    return Wrong(absl::StrCat("version ", kIndexVersion),
                 absl::StrCat(index.version()));
  }
  return index;
}

}  // namespace

// One frame per span at first, frames_per_span_ later. Amortised constant time:
// spans are halved each time that the number of frames doubles.
void FrameIndexBuilder::EndFrame(size_t bytes) {
  open_.bytes = bytes;
  if (spans_.empty() || frames_in_last_ == frames_per_span_) {
    if (spans_.size() >= max_spans_) HalveSpans();
    spans_.emplace_back();
    frames_in_last_ = 0;
  }
  spans_.back().Join(open_);
  ++frames_in_last_;
  open_ = FrameSpan();
}

// Joins pairs of spans, so the index stays small for any file: when there are
// too many spans, each covers twice as many frames.
void FrameIndexBuilder::HalveSpans() {
  size_t kept = 0;
  for (size_t i = 0; i < spans_.size(); i += 2) {
    FrameSpan span = spans_[i];
    if (i + 1 < spans_.size()) span.Join(spans_[i + 1]);
    spans_[kept++] = span;
  }
  spans_.resize(kept);
  frames_per_span_ *= 2;
}

// Header, inner frame without its magic, trailer; both sizes are little-endian.
absl::StatusOr<std::string> EncodeFrameIndex(
    const std::vector<FrameSpan>& spans, FrameCompressor* compressor) {
  const std::string message = MessageOf(spans).SerializeAsString();
  ASSIGN_OR_RETURN(absl::string_view inner, compressor->Compress(message));
  inner.remove_prefix(kMagicBytes);
  const size_t payload = inner.size() + kTrailerBytes;
  std::string frame;
  AppendLe32(kIndexMagic, &frame);
  AppendLe32(static_cast<uint32_t>(payload), &frame);
  frame.append(inner.data(), inner.size());
  AppendLe32(static_cast<uint32_t>(kHeaderBytes + payload), &frame);
  frame.append(kTrailerMagic.data(), kTrailerMagic.size());
  return frame;
}

absl::StatusOr<std::string> ReadBytesAt(ByteSource* source, uint64_t offset,
                                        size_t size) {
  RETURN_IF_ERROR(source->Seek(offset));
  std::string bytes(size, '\0');
  size_t got = 0;
  while (got < size) {
    ASSIGN_OR_RETURN(const size_t count, source->Read(&bytes[got], size - got));
    if (count == 0) break;
    got += count;
  }
  bytes.resize(got);
  return bytes;
}

// Two reads from the end of the file: the trailer, then the frame it names. A
// file whose end is another, as of a run that was killed, has no index. A
// trailer with a wrong frame is an error: then the file was changed.
absl::StatusOr<std::optional<std::vector<FrameSpan>>> ReadFrameIndex(
    ByteSource* source, uint64_t size_bytes) {
  constexpr size_t kLeast = kHeaderBytes + kTrailerBytes;
  if (size_bytes < kLeast) return std::nullopt;
  ASSIGN_OR_RETURN(
      const std::string trailer,
      ReadBytesAt(source, size_bytes - kTrailerBytes, kTrailerBytes));
  if (trailer.size() != kTrailerBytes || trailer.substr(4) != kTrailerMagic) {
    return std::nullopt;
  }
  const uint32_t frame_bytes = LoadLe32(trailer.data());
  if (frame_bytes < kLeast || frame_bytes > size_bytes ||
      frame_bytes > kMaxIndexBytes) {
    return Wrong(absl::StrCat("at most ", kMaxIndexBytes, " bytes"),
                 absl::StrCat(frame_bytes));
  }
  const uint64_t offset = size_bytes - frame_bytes;
  ASSIGN_OR_RETURN(const std::string frame,
                   ReadBytesAt(source, offset, frame_bytes));
  if (frame.size() != frame_bytes) return Wrong("the index", "the end");
  ASSIGN_OR_RETURN(const FrameIndex index, ParseIndexFrame(frame));
  return SpansOf(index, offset);
}

}  // namespace pymemrun
