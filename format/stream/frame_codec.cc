#include "format/stream/frame_codec.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "format/stream/stream_writer.h"

// For ZSTD_getFrameHeader(); the library is linked statically.
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>
#include <zstd_errors.h>

namespace pymemrun {
namespace {

// Sizes of the zstd frame format, RFC 8878, section 3.1. A frame is a magic, a
// header, blocks and the checksum of the content.
constexpr size_t kChecksumBytes = 4;
constexpr size_t kBlockHeaderBytes = 3;
constexpr size_t kSkippableHeaderBytes = 8;
constexpr uint8_t kSingleSegmentFlag = 0x20;
constexpr size_t kMaxBlockBytes = 128 * 1024;
// From this level on zstd chooses windows that readers refuse, so the window is
// set.
constexpr int kFirstHugeWindowLevel = 20;

void AppendLe(uint32_t value, size_t size, std::string* out) {
  for (size_t i = 0; i < size; ++i) {
    out->push_back(static_cast<char>(value >> (8 * i)));
  }
}

// Sixteen magics, 0x184D2A50 to 0x184D2A5F, begin skippable frames.
bool IsMagic(uint32_t word) {
  return word == kFrameMagic || (word & 0xFFFFFFF0) == kSkippableMagic;
}

// Lack of memory is no damage: the same file may be read elsewhere.
absl::Status ZstdError(size_t code) {
  switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_memory_allocation:
      return absl::ResourceExhaustedError("zstd: no memory");
    case ZSTD_error_checksum_wrong:
      return absl::DataLossError(
          "expected a frame that fits its checksum, found another checksum");
    default:
      return absl::DataLossError(
          absl::StrCat("expected a sound zstd frame, found damage (",
                       ZSTD_getErrorName(code), ")"));
  }
}

}  // namespace

uint32_t LoadLe32(const char* bytes) {
  const auto* b = reinterpret_cast<const uint8_t*>(bytes);
  return b[0] | b[1] << 8 | b[2] << 16 | static_cast<uint32_t>(b[3]) << 24;
}

void AppendLe32(uint32_t value, std::string* out) { AppendLe(value, 4, out); }

// Fewer than four bytes may still become a magic. The two strings are the
// magics as they stand in a file, little-endian.
bool MayBeginFrame(absl::string_view bytes) {
  if (bytes.size() >= kMagicBytes) return IsMagic(LoadLe32(bytes.data()));
  static constexpr absl::string_view kFrame("\x28\xB5\x2F\xFD", 4);
  static constexpr absl::string_view kSkippable("\x50\x2A\x4D\x18", 4);
  if (bytes.empty() || bytes == kFrame.substr(0, bytes.size())) return true;
  return (bytes[0] & 0xF0) == 0x50 &&
         bytes.substr(1) == kSkippable.substr(1, bytes.size() - 1);
}

// Also finds the start of a magic that is cut off at the end of `bytes`. Linear
// in `bytes`.
size_t FindFrameMagic(absl::string_view bytes, size_t from) {
  size_t at = from;
  for (; at + kMagicBytes <= bytes.size(); ++at) {
    if (IsMagic(LoadLe32(bytes.data() + at))) return at;
  }
  for (; at < bytes.size(); ++at) {
    if (MayBeginFrame(bytes.substr(at))) return at;
  }
  return absl::string_view::npos;
}

// Every frame has a checksum: it is what finds damage. "Stored" frames are
// compressed at level 1 only to get theirs.
absl::StatusOr<std::unique_ptr<FrameCompressor>> FrameCompressor::Create(
    int level) {
  const bool stored = level == StreamWriter::kStored;
  if (stored) level = 1;
  if (level < ZSTD_minCLevel() || level > ZSTD_maxCLevel()) {
    return absl::InvalidArgumentError(
        absl::StrCat("compression level: expected ", ZSTD_minCLevel(), " to ",
                     ZSTD_maxCLevel(), ", found ", level));
  }
  ZSTD_CCtx* context = ZSTD_createCCtx();
  if (context == nullptr)
    return absl::ResourceExhaustedError("zstd: no memory");
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  if (level >= kFirstHugeWindowLevel) {
    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, kMaxWindowLog);
  }
  return std::unique_ptr<FrameCompressor>(new FrameCompressor(context, stored));
}

FrameCompressor::~FrameCompressor() { ZSTD_freeCCtx(context_); }

// The result is valid until the next call. The buffers grow to the largest
// frame and are then used again.
absl::StatusOr<absl::string_view> FrameCompressor::Compress(
    absl::string_view records) {
  const size_t bound = ZSTD_compressBound(records.size());
  if (frame_.size() < bound) frame_.resize(bound);
  const size_t size = ZSTD_compress2(context_, &frame_[0], frame_.size(),
                                     records.data(), records.size());
  if (ZSTD_isError(size)) return ZstdError(size);
  const absl::string_view frame(frame_.data(), size);
  if (!stored_) return frame;
  // The checksum covers the content, so it is the same for any division into
  // blocks.
  Store(records, frame.substr(size - kChecksumBytes));
  return stored_frame_;
}

// Writes a frame of raw blocks by hand. A block header is little-endian: bit 0
// is set in the last block, bits 1 and 2 are the type (0: raw), and the size
// follows. A block has at most 128 KiB.
void FrameCompressor::Store(absl::string_view records,
                            absl::string_view checksum) {
  stored_frame_.clear();
  AppendLe(kFrameMagic, 4, &stored_frame_);
  // Descriptor byte: content size of 4 bytes, single segment, checksum.
  stored_frame_.push_back(static_cast<char>(0xA4));
  AppendLe(static_cast<uint32_t>(records.size()), 4, &stored_frame_);
  // An empty content has one empty block.
  do {
    const size_t size = std::min(records.size(), kMaxBlockBytes);
    const bool last = size == records.size();
    AppendLe(static_cast<uint32_t>(size << 3 | (last ? 1 : 0)),
             kBlockHeaderBytes, &stored_frame_);
    stored_frame_.append(records.data(), size);
    records.remove_prefix(size);
  } while (!records.empty());
  stored_frame_.append(checksum.data(), checksum.size());
}

FrameWalker::Result FrameWalker::Bad(absl::string_view expected,
                                     absl::string_view found) {
  status_ = absl::DataLossError(
      absl::StrCat("expected ", expected, ", found ", found));
  return Result::kBad;
}

// Finds the end of a frame from its header and block headers, without
// decompressing. Also computes an upper bound of the content, so that a small
// hostile frame cannot make the reader allocate more. May be called again with
// more bytes. `bytes` begin `skipped` bytes after the frame's start, and
// position_ counts from the start. So a caller need not keep blocks that were
// walked over.
FrameWalker::Result FrameWalker::Walk(absl::string_view bytes, size_t skipped) {
  if (!status_.ok()) return Result::kBad;
  if (!in_blocks_ && !complete_) {
    const Result result = ReadHeader(bytes);
    if (result != Result::kComplete) return result;
  }
  if (in_blocks_) {
    const Result result = ReadBlocks(bytes, skipped);
    if (result != Result::kComplete) return result;
    in_blocks_ = false;
    complete_ = true;
  }
  return position_ <= skipped + bytes.size() ? Result::kComplete
                                             : Result::kMore;
}

// A skippable frame has a magic, its size in 4 bytes, and any content.
FrameWalker::Result FrameWalker::ReadHeader(absl::string_view bytes) {
  if (!MayBeginFrame(bytes)) {
    return Bad(
        "a zstd frame (28 b5 2f fd)",
        bytes.empty() ? "the end" : absl::BytesToHexString(bytes.substr(0, 4)));
  }
  if (bytes.size() < kMagicBytes) return Result::kMore;
  if (LoadLe32(bytes.data()) == kFrameMagic) return ReadFrameHeader(bytes);
  if (bytes.size() < kSkippableHeaderBytes) return Result::kMore;
  const uint64_t size = LoadLe32(bytes.data() + kMagicBytes);
  if (size > limits_.max_frame_bytes) {
    return Bad(absl::StrCat("a skippable frame of at most ",
                            limits_.max_frame_bytes, " bytes"),
               absl::StrCat(size));
  }
  skippable_ = true;
  position_ = kSkippableHeaderBytes + static_cast<size_t>(size);
  complete_ = true;
  return Result::kComplete;
}

// Refuses what pymemrun never writes: frames without a checksum, frames that
// need a dictionary, and windows or contents beyond the limits. A frame of a
// single segment has no window: its content is the window.
FrameWalker::Result FrameWalker::ReadFrameHeader(absl::string_view bytes) {
  ZSTD_frameHeader header;
  const size_t more = ZSTD_getFrameHeader(&header, bytes.data(), bytes.size());
  if (ZSTD_isError(more)) {
    return Bad("a zstd frame header", ZSTD_getErrorName(more));
  }
  if (more != 0) return Result::kMore;
  if (header.checksumFlag == 0) return Bad("a frame with a checksum", "none");
  if (header.dictID != 0) {
    return Bad("a frame without a dictionary",
               absl::StrCat("dictionary ", header.dictID));
  }
  const bool single_segment =
      (static_cast<uint8_t>(bytes[kMagicBytes]) & kSingleSegmentFlag) != 0;
  const uint64_t max_window = uint64_t{1} << limits_.max_window_log;
  if (!single_segment && header.windowSize > max_window) {
    return Bad(absl::StrCat("a zstd window of at most ", max_window, " bytes"),
               absl::StrCat(header.windowSize));
  }
  content_size_ = header.frameContentSize;
  if (content_size_ != ZSTD_CONTENTSIZE_UNKNOWN &&
      content_size_ > limits_.max_frame_bytes) {
    return Bad(absl::StrCat("a frame of at most ", limits_.max_frame_bytes,
                            " bytes decompressed"),
               absl::StrCat(content_size_));
  }
  block_size_max_ = header.blockSizeMax;
  position_ = header.headerSize;
  in_blocks_ = true;
  return Result::kComplete;
}

// Goes from block header to block header. Raw and RLE blocks state the size of
// their content. A compressed block states its own size, so its content counts
// as the largest that a block may have. An RLE block is one byte long.
FrameWalker::Result FrameWalker::ReadBlocks(absl::string_view bytes,
                                            size_t skipped) {
  enum { kRaw = 0, kRle = 1, kReserved = 3 };
  for (;;) {
    if (position_ > limits_.max_frame_bytes) {
      return Bad(absl::StrCat("a frame of at most ", limits_.max_frame_bytes,
                              " bytes"),
                 "more");
    }
    if (position_ + kBlockHeaderBytes > skipped + bytes.size()) {
      return Result::kMore;
    }
    const auto* b =
        reinterpret_cast<const uint8_t*>(bytes.data() + (position_ - skipped));
    const uint32_t word = b[0] | b[1] << 8 | b[2] << 16;
    const uint32_t type = word >> 1 & 3;
    const uint32_t size = word >> 3;
    if (type == kReserved || size > block_size_max_) {
      return Bad(absl::StrCat("a block of at most ", block_size_max_, " bytes"),
                 absl::StrCat("type ", type, ", ", size, " bytes"));
    }
    ++blocks_;
    block_bound_ += type == kRaw || type == kRle ? size : block_size_max_;
    position_ += kBlockHeaderBytes + (type == kRle ? 1 : size);
    if ((word & 1) != 0) {
      position_ += kChecksumBytes;
      return Result::kComplete;
    }
  }
}

// The stated size if there is one. A frame with more content than it states
// fails in Decompress(), and never overruns the buffer.
size_t FrameWalker::content_bound() const {
  const uint64_t bound =
      content_size_ == ZSTD_CONTENTSIZE_UNKNOWN ? block_bound_ : content_size_;
  return static_cast<size_t>(
      std::min<uint64_t>(bound, limits_.max_frame_bytes));
}

FrameDecompressor::FrameDecompressor() : context_(ZSTD_createDCtx()) {}

FrameDecompressor::~FrameDecompressor() { ZSTD_freeDCtx(context_); }

// The buffer is as large as the bound, not as the limit of 32 MiB, and is used
// again for the next frames.
absl::StatusOr<absl::string_view> FrameDecompressor::Decompress(
    absl::string_view frame, size_t content_bound) {
  if (context_ == nullptr)
    return absl::ResourceExhaustedError("zstd: no memory");
  if (capacity_ < content_bound || buffer_ == nullptr) {
    buffer_.reset();
    buffer_ = std::make_unique_for_overwrite<char[]>(content_bound + 1);
    capacity_ = content_bound;
  }
  const size_t size = ZSTD_decompressDCtx(
      context_, buffer_.get(), content_bound, frame.data(), frame.size());
  if (!ZSTD_isError(size)) return absl::string_view(buffer_.get(), size);
  if (ZSTD_getErrorCode(size) == ZSTD_error_dstSize_tooSmall) {
    return absl::DataLossError(absl::StrCat("expected a frame of at most ",
                                            content_bound,
                                            " bytes decompressed, found more"));
  }
  return ZstdError(size);
}

}  // namespace pymemrun
