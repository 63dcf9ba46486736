#include "format/stream/stream_writer.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "format/limits.h"
#include "format/stream/frame_codec.h"
#include "format/stream/frame_index.h"
#include "format/stream/status_util.h"
#include "format/stream/varint.h"

namespace pymemrun {
namespace {

constexpr size_t kMaxVarintBytes = 10;

size_t VarintBytes(uint64_t value) {
  size_t bytes = 1;
  for (; value >= 0x80; value >>= 7) ++bytes;
  return bytes;
}

// Collects records, each behind its length as a varint, and compresses them as
// one frame when the next one does not fit. A frame holds whole records, so one
// lost frame does not spoil its neighbours. A record larger than a frame gets a
// frame of its own.
class ZstdStreamWriter final : public StreamWriter {
 public:
  ZstdStreamWriter(ByteSink* sink, size_t max_frame_bytes,
                   std::unique_ptr<FrameCompressor> compressor)
      : sink_(sink),
        max_frame_bytes_(max_frame_bytes),
        compressor_(std::move(compressor)) {
    records_.reserve(max_frame_bytes_ + kMaxVarintBytes);
  }

  // Serialises in place. The size is computed once and cached in the message.
  absl::Status Append(const google::protobuf::MessageLite& record) override {
    const size_t size = record.ByteSizeLong();
    RETURN_IF_ERROR(MakeRoom(size));
    const size_t at = records_.size();
    records_.resize(at + size);
    record.SerializeWithCachedSizesToArray(
        reinterpret_cast<uint8_t*>(&records_[at]));
    index_.AddRecord(absl::string_view(records_).substr(at));
    return absl::OkStatus();
  }

  absl::Status AppendSerialized(absl::string_view record) override {
    RETURN_IF_ERROR(MakeRoom(record.size()));
    records_.append(record.data(), record.size());
    index_.AddRecord(record);
    return absl::OkStatus();
  }

  // After a failed write the file may end inside a frame, so nothing may follow
  // it. Hence the failure is kept and returned by all later calls.
  absl::Status Flush() override {
    RETURN_IF_ERROR(failure_);
    if (records_.empty()) return absl::OkStatus();
    absl::StatusOr<absl::string_view> frame = compressor_->Compress(records_);
    failure_ = frame.ok() ? sink_->Append(*frame) : frame.status();
    records_.clear();
    if (failure_.ok()) index_.EndFrame(frame->size());
    return failure_;
  }

  absl::Status WriteIndex() override {
    RETURN_IF_ERROR(Flush());
    const absl::StatusOr<std::string> frame =
        EncodeFrameIndex(index_.spans(), compressor_.get());
    failure_ = frame.ok() ? sink_->Append(*frame) : frame.status();
    return failure_;
  }

 private:
  // Ends the frame if a record of `size` does not fit, and adds its length.
  absl::Status MakeRoom(size_t size) {
    RETURN_IF_ERROR(failure_);
    if (size > kMaxRecordBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("record: expected at most ", kMaxRecordBytes,
                       " bytes, found ", size));
    }
    const size_t room = size + VarintBytes(size);
    if (!records_.empty() && records_.size() + room > max_frame_bytes_) {
      RETURN_IF_ERROR(Flush());
    }
    AppendVarint(size, &records_);
    return absl::OkStatus();
  }

  ByteSink* const sink_;
  const size_t max_frame_bytes_;
  const std::unique_ptr<FrameCompressor> compressor_;
  std::string records_;  // delimited, of the frame under way
  FrameIndexBuilder index_;
  absl::Status failure_;  // the first one, kept
};

}  // namespace

absl::StatusOr<std::unique_ptr<StreamWriter>> StreamWriter::Create(
    ByteSink* sink, Options options) {
  if (options.max_frame_bytes == 0 ||
      options.max_frame_bytes > kMaxRecordBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("frame size: expected 1 to ", kMaxRecordBytes,
                     " bytes, found ", options.max_frame_bytes));
  }
  ASSIGN_OR_RETURN(std::unique_ptr<FrameCompressor> compressor,
                   FrameCompressor::Create(options.level));
  return std::make_unique<ZstdStreamWriter>(sink, options.max_frame_bytes,
                                            std::move(compressor));
}

}  // namespace pymemrun
