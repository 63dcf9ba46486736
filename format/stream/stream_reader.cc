#include "format/stream/stream_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "format/stream/byte_io.h"
#include "format/stream/foreign_file.h"
#include "format/stream/frame_codec.h"
#include "format/stream/read_plan.h"
#include "format/stream/varint.h"

namespace pymemrun {
namespace {

// A window into a source: bytes from an offset on; more are read on request.
// Grows only to what is requested, so callers need a limit. Not thread-safe.
class InputWindow {
 public:
  // The source must outlive the window.
  explicit InputWindow(ByteSource* source) : source_(source) {}

  // Bytes from offset() on, valid until the next Fill() or Consume().
  absl::string_view bytes() const {
    return absl::string_view(buffer_.get() + begin_, end_ - begin_);
  }
  uint64_t offset() const { return offset_; }
  const absl::Status& error() const { return error_; }

  // Extends bytes() to at least `size`. Returns false if the source ended or
  // failed before; what was read is there.
  bool Fill(size_t size) {
    while (end_ - begin_ < size) {
      if (!error_.ok()) return false;
      Reserve(std::max(size, end_ - begin_ + kChunkBytes));
      absl::StatusOr<size_t> count =
          source_->Read(buffer_.get() + end_, capacity_ - end_);
      if (!count.ok()) error_ = count.status();
      if (!count.ok() || *count == 0) return false;
      end_ += *count;
    }
    return true;
  }

  // REQUIRES: size <= bytes().size()
  void Consume(size_t size) {
    begin_ += size;
    offset_ += size;
    if (begin_ == end_) begin_ = end_ = 0;
  }

  // Drops everything before `offset` without reading it. Returns false if the
  // source cannot seek, see error(). REQUIRES: offset >= this->offset()
  bool SkipTo(uint64_t offset) {
    if (offset - offset_ <= bytes().size()) {
      Consume(static_cast<size_t>(offset - offset_));
      return true;
    }
    error_ = source_->Seek(offset);
    if (!error_.ok()) return false;
    begin_ = end_ = 0;
    offset_ = offset;
    return true;
  }

 private:
  static constexpr size_t kChunkBytes = 256 * 1024;

  // Makes room for `size` bytes from begin_ on.
  void Reserve(size_t size) {
    if (begin_ + size <= capacity_) return;
    const size_t have = end_ - begin_;
    if (size <= capacity_) {
      memmove(buffer_.get(), buffer_.get() + begin_, have);
    } else {
      // Doubles, so that growing takes linear time.
      const size_t capacity = std::max(size, 2 * capacity_);
      auto larger = std::make_unique_for_overwrite<char[]>(capacity);
      if (have != 0) memcpy(larger.get(), buffer_.get() + begin_, have);
      buffer_ = std::move(larger);
      capacity_ = capacity;
    }
    begin_ = 0;
    end_ = have;
  }

  ByteSource* const source_;
  absl::Status error_;
  std::unique_ptr<char[]> buffer_;
  size_t capacity_ = 0;
  size_t begin_ = 0;
  size_t end_ = 0;
  uint64_t offset_ = 0;  // in the file, of begin_
};

// Bound on the work of resynchronisation. A hostile file may consist of false
// frame headers, and each could cost the work of decompressing a frame. Failed
// attempts may cost kFreeWork, plus kWorkPerByte for each byte read. Beyond
// that a failed frame is skipped whole. So the time is linear in the size of
// the file.
constexpr uint64_t kFreeWork = 64 * 1024 * 1024;
constexpr uint64_t kWorkPerByte = 16;
constexpr uint64_t kWorkPerBlock = 16;
// While searching, bytes are dropped in pieces of this size.
constexpr size_t kReleaseBytes = 1024 * 1024;

class ZstdStreamReader final : public StreamReader {
 public:
  ZstdStreamReader(ByteSource* source, Options options)
      : options_(options), input_(source) {}

  Result Next(absl::string_view* record) override {
    for (;;) {
      if (damage_queued_) {
        damage_queued_ = false;
        return Result::kDamage;
      }
      if (!records_.empty()) return NextInFrame(record);
      const Result result = NextFrame();
      if (!input_.error().ok() && result != Result::kRecord) {
        return SourceFailed(result);
      }
      if (result != Result::kRecord) return result;
    }
  }

  const Damage& damage() const override { return damage_; }
  uint64_t frame_offset() const override { return frame_offset_; }

 private:
  // Result of trying to read a frame at a place in the input.
  struct Attempt {
    enum Kind {
      kGood,        // a frame; records_ are its decompressed bytes
      kSkip,        // a skippable frame
      kBad,         // neither: status
      kIncomplete,  // the input ends before the frame
    };
    Kind kind;
    size_t end = 0;     // end in the window; kBad: by block headers, or 0
    uint64_t work = 0;  // cost of this attempt
    absl::Status status;
  };

  Result NextInFrame(absl::string_view* record);
  Result NextFrame();
  bool SkipUnwanted();
  Result SourceFailed(Result result);
  Attempt Try(size_t at);
  Attempt Decompress(size_t at, const FrameWalker& walker);
  void Take(size_t at, const Attempt& attempt);
  bool FrameFollows(size_t at);
  Result Resync(size_t skip, bool at_end);
  void ResumeAt(size_t at, const Attempt& attempt);
  bool FindMagic(size_t* at, uint64_t* released);
  size_t AfterFailed(size_t at, const Attempt& attempt);
  Result Damaged(uint64_t offset, uint64_t lost, absl::Status status);

  const Options options_;
  InputWindow input_;
  FrameDecompressor decompressor_;
  absl::string_view records_;  // rest of the current frame
  uint64_t frame_offset_ = 0;
  uint64_t frame_bytes_ = 0;
  size_t frame_content_bytes_ = 0;
  Damage damage_;
  bool damage_queued_ = false;
  bool foreign_ = false;  // the file does not begin with a frame
  bool error_given_ = false;
  uint64_t failed_work_ = 0;
};

StreamReader::Result ZstdStreamReader::Damaged(uint64_t offset, uint64_t lost,
                                               absl::Status status) {
  damage_.offset = offset;
  damage_.bytes_lost = lost;
  damage_.status = std::move(status);
  return Result::kDamage;
}

StreamReader::Result ZstdStreamReader::SourceFailed(Result result) {
  if (error_given_) return Result::kEnd;
  error_given_ = true;
  return Damaged(input_.offset() + input_.bytes().size(), 0, input_.error());
}

StreamReader::Result ZstdStreamReader::NextInFrame(absl::string_view* record) {
  const size_t at = frame_content_bytes_ - records_.size();
  uint64_t size;
  std::string found;
  if (!TakeVarint(&records_, &size)) {
    found = "no varint";
  } else if (size > records_.size()) {
    found = absl::StrCat(size, " with ", records_.size(), " bytes left");
  } else if (size > options_.max_record_bytes) {
    found = absl::StrCat(size);
  }
  if (!found.empty()) {
    records_ = absl::string_view();
    return Damaged(frame_offset_, frame_bytes_,
                   absl::DataLossError(absl::StrCat(
                       "decompressed byte ", at,
                       " of the frame: expected a record length of at most ",
                       options_.max_record_bytes, ", found ", found)));
  }
  *record = records_.substr(0, static_cast<size_t>(size));
  records_.remove_prefix(static_cast<size_t>(size));
  return Result::kRecord;
}

// Reads the next frame. Returns kRecord if records_ was set or damage_queued_
// is.
StreamReader::Result ZstdStreamReader::NextFrame() {
  if (foreign_) return Resync(0, false);
  for (;;) {
    if (!SkipUnwanted() || !input_.Fill(1)) {
      Damaged(input_.offset(), 0, absl::OkStatus());
      return Result::kEnd;
    }
    const Attempt attempt = Try(0);
    switch (attempt.kind) {
      case Attempt::kGood:
        Take(0, attempt);
        return Result::kRecord;
      case Attempt::kSkip:
        input_.Consume(attempt.end);
        continue;
      case Attempt::kIncomplete:
        return Resync(1, true);
      case Attempt::kBad:
        break;
    }
    const uint64_t offset = input_.offset();
    if (offset == 0 && !MayBeginFrame(input_.bytes())) {
      foreign_ = true;
      return Damaged(0, 0, NotARunFile(input_.bytes()));
    }
    Damaged(offset, 0, attempt.status);
    if (attempt.end == 0 || !FrameFollows(attempt.end)) {
      return Resync(1, false);
    }
    damage_.bytes_lost = attempt.end;
    input_.Consume(attempt.end);
    return Result::kDamage;
  }
}

// Goes to the next frame of the plan. Returns false if there are no more.
bool ZstdStreamReader::SkipUnwanted() {
  if (options_.plan == nullptr) return true;
  const uint64_t offset = options_.plan->NextWanted(input_.offset());
  return offset != ReadPlan::kNothing && input_.SkipTo(offset);
}

// Makes the frame found at `at` the current one.
void ZstdStreamReader::Take(size_t at, const Attempt& attempt) {
  frame_offset_ = input_.offset() + at;
  frame_bytes_ = attempt.end - at;
  frame_content_bytes_ = records_.size();
  input_.Consume(attempt.end);
}

ZstdStreamReader::Attempt ZstdStreamReader::Try(size_t at) {
  FrameWalker walker({options_.max_frame_bytes, options_.max_window_log});
  FrameWalker::Result result;
  for (;;) {
    const absl::string_view bytes = input_.bytes().substr(at);
    result = walker.Walk(bytes);
    if (result != FrameWalker::Result::kMore) break;
    // Requests one more byte, for which a whole chunk is read.
    const size_t want = std::max(bytes.size() + 1, walker.end());
    if (!input_.Fill(at + want)) break;
  }
  const uint64_t work = kMagicBytes + walker.blocks() * kWorkPerBlock;
  switch (result) {
    case FrameWalker::Result::kMore:
      return {Attempt::kIncomplete, 0, work, absl::OkStatus()};
    case FrameWalker::Result::kBad:
      return {Attempt::kBad, 0, work, walker.status()};
    case FrameWalker::Result::kComplete:
      break;
  }
  if (!walker.skippable()) return Decompress(at, walker);
  // A skippable frame has no checksum. Only the frame after it shows that it is
  // sound.
  if (FrameFollows(at + walker.end())) {
    return {Attempt::kSkip, at + walker.end(), work, absl::OkStatus()};
  }
  return {Attempt::kBad, 0, work,
          absl::DataLossError("expected a frame after the skippable frame, "
                              "found none")};
}

ZstdStreamReader::Attempt ZstdStreamReader::Decompress(
    size_t at, const FrameWalker& walker) {
  const size_t end = at + walker.end();
  absl::StatusOr<absl::string_view> content = decompressor_.Decompress(
      input_.bytes().substr(at, walker.end()), walker.content_bound());
  if (content.ok()) {
    records_ = *content;
    return {Attempt::kGood, end, 0, absl::OkStatus()};
  }
  return {Attempt::kBad, end, walker.end() + walker.content_bound(),
          content.status()};
}

// Whether a frame may begin at `at`, or the input ends there.
bool ZstdStreamReader::FrameFollows(size_t at) {
  input_.Fill(at + kMagicBytes);
  return at <= input_.bytes().size() &&
         MayBeginFrame(input_.bytes().substr(at, kMagicBytes));
}

// Moves *at to the next place that may be the start of a frame. Returns false
// if there are no more. If `released` is not null, drops the bytes passed and
// adds their number to it.
bool ZstdStreamReader::FindMagic(size_t* at, uint64_t* released) {
  for (;;) {
    if (released != nullptr && *at >= kReleaseBytes) {
      input_.Consume(*at);
      *released += *at;
      *at = 0;
    }
    const size_t size = input_.bytes().size();
    const size_t found = FindFrameMagic(input_.bytes(), *at);
    const bool partial = found != absl::string_view::npos;
    if (partial) *at = found;
    if (partial && found + kMagicBytes <= size) return true;
    if (!partial) *at = std::max(*at, size);
    if (!input_.Fill(size + 1)) return partial;
  }
}

// Returns where to continue after a failed attempt at `at`.
size_t ZstdStreamReader::AfterFailed(size_t at, const Attempt& attempt) {
  failed_work_ += attempt.work;
  const uint64_t allowed =
      kFreeWork + kWorkPerByte * (input_.offset() + input_.bytes().size());
  return failed_work_ > allowed ? std::max(at + 1, attempt.end) : at + 1;
}

// Continues with the frame found at `at`, after reporting damage_.
void ZstdStreamReader::ResumeAt(size_t at, const Attempt& attempt) {
  damage_queued_ = !foreign_;
  foreign_ = false;
  if (attempt.kind == Attempt::kGood) {
    Take(at, attempt);
  } else {
    input_.Consume(attempt.end);
  }
}

// Resynchronises: searches for the next frame that decodes, from `skip` bytes
// on. at_end false: damage_ is set, and gets its bytes_lost. at_end true: the
// frame at the start of the window is incomplete. That is damage only if a
// whole frame follows; otherwise the file is torn there, a normal end.
StreamReader::Result ZstdStreamReader::Resync(size_t skip, bool at_end) {
  constexpr size_t kNone = ~size_t{0};
  uint64_t released = 0;
  size_t incomplete = kNone;
  const uint64_t start = input_.offset();
  for (size_t at = skip;
       FindMagic(&at, at_end || incomplete != kNone ? nullptr : &released);) {
    const Attempt attempt = Try(at);
    const bool found =
        attempt.kind == Attempt::kGood || attempt.kind == Attempt::kSkip;
    if (found) {
      if (at_end) {
        Damaged(start, 0,
                absl::DataLossError("expected a frame that ends before the "
                                    "next one begins, found a "
                                    "longer one"));
      }
      damage_.bytes_lost = released + at;
      ResumeAt(at, attempt);
      return Result::kRecord;
    }
    if (attempt.kind == Attempt::kIncomplete && incomplete == kNone) {
      incomplete = at;
    }
    at = AfterFailed(at, attempt);
  }
  if (at_end) {
    Damaged(start, input_.bytes().size(),
            absl::DataLossError("expected the rest of a frame, found the end"));
    return Result::kTorn;
  }
  const size_t lost = std::min(incomplete, input_.bytes().size());
  input_.Consume(lost);
  if (foreign_) return Result::kEnd;
  damage_.bytes_lost = released + lost;
  return Result::kDamage;
}

}  // namespace

std::unique_ptr<StreamReader> StreamReader::Create(ByteSource* source,
                                                   Options options) {
  return std::make_unique<ZstdStreamReader>(source, options);
}

}  // namespace pymemrun
