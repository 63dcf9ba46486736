#include "format/stream/read_plan.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "format/stream/frame_codec.h"
#include "format/stream/frame_index.h"
#include "format/stream/status_util.h"
#include "format/stream/stream_reader.h"

namespace pymemrun {
namespace {

// Bytes read at a time: enough for any frame header, and for several tiny
// frames.
constexpr size_t kPeekBytes = 256;

// Reads a few bytes at a time from any place of a source. A read of 256 bytes
// serves all headers within it.
class Peeker {
 public:
  explicit Peeker(ByteSource* source) : source_(source) {}
  // Returns bytes from `offset` on; few or none near the end.
  absl::StatusOr<absl::string_view> At(uint64_t offset) {
    constexpr size_t kFewest = 32;
    if (offset < offset_ || offset + kFewest > offset_ + bytes_.size()) {
      ASSIGN_OR_RETURN(bytes_, ReadBytesAt(source_, offset, kPeekBytes));
      offset_ = offset;
    }
    return absl::string_view(bytes_).substr(
        static_cast<size_t>(offset - offset_));
  }

 private:
  ByteSource* const source_;
  std::string bytes_;
  uint64_t offset_ = 0;
};

// Returns the end of the frame at `offset`, from its header and block headers.
// Nothing is decompressed.
absl::StatusOr<uint64_t> EndOfFrame(Peeker* peeker, uint64_t offset) {
  const StreamReader::Options limits;
  FrameWalker walker({limits.max_frame_bytes, limits.max_window_log});
  for (;;) {
    const size_t skipped = walker.end();
    ASSIGN_OR_RETURN(const absl::string_view bytes,
                     peeker->At(offset + skipped));
    switch (walker.Walk(bytes, skipped)) {
      case FrameWalker::Result::kComplete:
        return offset + walker.end();
      case FrameWalker::Result::kBad:
        return walker.status();
      case FrameWalker::Result::kMore:
        break;
    }
    if (walker.end() == skipped) {
      return absl::DataLossError("expected a whole frame, found the end");
    }
  }
}

// Finds the first span with rows of these times, and the end of the last one.
// All spans between are read, too, because clocks of threads may differ.
void FindWanted(const std::vector<FrameSpan>& spans, uint64_t from_us,
                uint64_t to_us, size_t* first, size_t* end) {
  *first = spans.size();
  *end = 0;
  bool any_later = false;
  for (size_t i = 0; i < spans.size(); ++i) {
    if (!spans[i].timed()) continue;
    any_later |= spans[i].first_us > to_us;
    if (spans[i].last_us < from_us || spans[i].first_us > to_us) continue;
    *first = std::min(*first, i);
    *end = i + 1;
  }
  // If no span is later, reads up to the footer.
  if (!any_later) *end = spans.size();
  // Context of the first row may be in earlier spans.
  for (size_t i = *first; i > 0 && *first < spans.size(); --i) {
    const FrameSpan& before = spans[i - 1];
    if (!before.has_rows()) continue;
    if (before.ends_in_context) *first = i - 1;
    if (!before.only_context) break;
  }
}

// Returns the spans of a file without an index, by reading all its frames.
// Returns nullopt after damage: to report it, everything must be read.
std::optional<std::vector<FrameSpan>> ScanSpans(ByteSource* source,
                                                uint64_t size_bytes) {
  FrameIndexBuilder builder;
  const auto reader = StreamReader::Create(source, StreamReader::Options());
  // The first span has the header and whatever precedes it.
  uint64_t begin = 0, frame = 0;
  bool is_first = true;
  absl::string_view record;
  for (;;) {
    switch (reader->Next(&record)) {
      case StreamReader::Result::kRecord:
        if (reader->frame_offset() != frame && !is_first) {
          builder.EndFrame(reader->frame_offset() - begin);
          begin = reader->frame_offset();
        }
        frame = reader->frame_offset();
        is_first = false;
        builder.AddRecord(record);
        break;
      case StreamReader::Result::kDamage:
        return std::nullopt;
      case StreamReader::Result::kTorn:
      case StreamReader::Result::kEnd: {
        if (size_bytes <= begin) return std::nullopt;
        builder.EndFrame(size_bytes - begin);
        // The reader must see how the file ends, and whether it grows.
        std::vector<FrameSpan> spans = builder.spans();
        spans.back().needed = true;
        return spans;
      }
    }
  }
}

}  // namespace

std::unique_ptr<ReadPlan> ReadPlan::WithoutEvents() {
  auto plan = std::make_unique<ReadPlan>();
  plan->wants_events_ = false;
  return plan;
}

// The index, or else a scan, gives the spans; the plan skips those without
// wanted times. A source that cannot seek fails here.
absl::StatusOr<std::unique_ptr<ReadPlan>> ReadPlan::Create(ByteSource* source,
                                                           uint64_t size_bytes,
                                                           uint64_t from_us,
                                                           uint64_t to_us) {
  auto spans = ReadFrameIndex(source, size_bytes);
  if (spans.ok() && !spans->has_value()) {
    RETURN_IF_ERROR(source->Seek(0));
    spans = ScanSpans(source, size_bytes);
  }
  auto plan = absl::WrapUnique(new ReadPlan);
  absl::Status status = spans.status();
  if (spans.ok() && spans->has_value()) {
    plan->Make(**spans, from_us, to_us);
    status = plan->CheckSkipped(source);
  }
  RETURN_IF_ERROR(source->Seek(0));
  RETURN_IF_ERROR(status);
  if (plan->skipped_.empty() && plan->end_ == kNothing) return nullptr;
  return plan;
}

// The file in order: the header's span; spans before the wanted ones, where
// only needed ones are read; the wanted ones; then nothing more. Definitions in
// spans before the wanted ones are needed, so rows there are read but not
// given.
void ReadPlan::Make(const std::vector<FrameSpan>& spans, uint64_t from_us,
                    uint64_t to_us) {
  size_t first, end;
  FindWanted(spans, from_us, to_us, &first, &end);
  uint64_t offset = 0;
  for (size_t i = 0; i < spans.size(); ++i) {
    if (i == first) rows_from_ = offset;
    // The header is always read.
    if (i > 0 && i >= end) {
      end_ = offset;
      break;
    }
    const uint64_t after = offset + spans[i].bytes;
    if (i > 0 && i < first && !spans[i].needed) {
      skipped_.emplace_back(offset, after);
    }
    offset = after;
  }
  if (first == spans.size()) rows_from_ = kNothing;
}

// Skipped ranges must consist of whole frames, by their headers. So damage in
// the index cannot hide a part of the file.
absl::Status ReadPlan::CheckSkipped(ByteSource* source) const {
  Peeker peeker(source);
  for (const Range& range : skipped_) {
    uint64_t at = range.first;
    while (at < range.second) {
      const absl::StatusOr<uint64_t> end = EndOfFrame(&peeker, at);
      if (!end.ok()) return AtOffset(at, end.status());
      at = *end;
    }
    if (at != range.second) {
      return absl::DataLossError(absl::StrCat("expected a frame that ends at ",
                                              range.second, ", found ", at));
    }
  }
  return absl::OkStatus();
}

// Offsets only rise, so the ranges are walked over once. A range counts only if
// reading has come to exactly where it begins: an index that is off by some
// bytes skips nothing.
uint64_t ReadPlan::NextWanted(uint64_t offset) {
  if (offset >= end_) {
    ended_ = true;
    return kNothing;
  }
  while (next_skipped_ < skipped_.size() &&
         skipped_[next_skipped_].first < offset) {
    ++next_skipped_;
  }
  while (next_skipped_ < skipped_.size() &&
         skipped_[next_skipped_].first == offset) {
    offset = skipped_[next_skipped_++].second;
  }
  return offset;
}

}  // namespace pymemrun
