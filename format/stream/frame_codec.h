// One frame of the run file: what zstd is asked to write, and what is accepted
// from a file of unknown origin. Used by StreamWriter and StreamReader.
//
// A frame is a zstd frame with content checksum and without dictionary. Its
// end is found from its block headers before anything is decompressed, so a
// frame is decompressed in one go, into a buffer whose size is known before.
#ifndef PYMEMRUN_FORMAT_STREAM_FRAME_CODEC_H_
#define PYMEMRUN_FORMAT_STREAM_FRAME_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "format/limits.h"

typedef struct ZSTD_CCtx_s ZSTD_CCtx;
typedef struct ZSTD_DCtx_s ZSTD_DCtx;

namespace pymemrun {

inline constexpr uint32_t kFrameMagic = 0xFD2FB528;      // little endian
inline constexpr uint32_t kSkippableMagic = 0x184D2A50;  // last 4 bits free
inline constexpr size_t kMagicBytes = 4;

// Little endian, as all of zstd's numbers are. REQUIRES: 4 bytes are there.
uint32_t LoadLe32(const char* bytes);
void AppendLe32(uint32_t value, std::string* out);

// Whether `bytes` begins with a magic number of either kind, or is shorter
// than one and may become one.
bool MayBeginFrame(absl::string_view bytes);
// Where the next such place in `bytes` is, from `from` on; npos if nowhere.
size_t FindFrameMagic(absl::string_view bytes, size_t from);

// Not thread safe.
class FrameCompressor {
 public:
  // `level` is zstd's, or StreamWriter::kStored.
  static absl::StatusOr<std::unique_ptr<FrameCompressor>> Create(int level);
  ~FrameCompressor();
  // The frame that holds `records`, valid until the next call.
  absl::StatusOr<absl::string_view> Compress(absl::string_view records);

 private:
  FrameCompressor(ZSTD_CCtx* context, bool stored)
      : context_(context), stored_(stored) {}
  void Store(absl::string_view records, absl::string_view checksum);

  ZSTD_CCtx* context_;  // owned
  const bool stored_;
  std::string frame_;
  std::string stored_frame_;
};

// Finds a frame's end, as far as the bytes at hand reach. One walker per frame.
class FrameWalker {
 public:
  struct Limits {
    size_t max_frame_bytes;  // compressed, and decompressed
    int max_window_log;
  };
  enum class Result {
    kComplete,  // end() is set
    kMore,      // the bytes end before the frame
    kBad,       // not a frame that is accepted: status()
  };

  explicit FrameWalker(Limits limits) : limits_(limits) {}
  // REQUIRES: `bytes` begins `skipped` bytes into the frame, where `skipped` is
  // 0 or, once the header has been read, at most end(): so a frame is walked
  // also by whoever holds but a few bytes of it.
  Result Walk(absl::string_view bytes, size_t skipped = 0);
  bool skippable() const { return skippable_; }
  // The end once complete; else where the next bytes are needed.
  size_t end() const { return position_; }
  // A size that the decompressed bytes cannot exceed; at most max_frame_bytes.
  size_t content_bound() const;
  const absl::Status& status() const { return status_; }
  uint64_t blocks() const { return blocks_; }

 private:
  Result ReadHeader(absl::string_view bytes);
  Result ReadFrameHeader(absl::string_view bytes);
  Result ReadBlocks(absl::string_view bytes, size_t skipped);
  Result Bad(absl::string_view expected, absl::string_view found);

  const Limits limits_;
  absl::Status status_;
  size_t position_ = 0;  // of the next block header; the end once complete
  bool in_blocks_ = false;
  bool complete_ = false;
  bool skippable_ = false;
  uint64_t content_size_ = 0;  // as the header says; UINT64_MAX: it does not
  uint64_t block_bound_ = 0;   // what the blocks seen can decompress to
  uint64_t block_size_max_ = 0;
  uint64_t blocks_ = 0;
};

// Not thread safe. Holds the decompressed bytes of one frame.
class FrameDecompressor {
 public:
  FrameDecompressor();
  ~FrameDecompressor();
  FrameDecompressor(const FrameDecompressor&) = delete;
  FrameDecompressor& operator=(const FrameDecompressor&) = delete;
  // Decompresses `frame`, which a walker found complete, and verifies its
  // checksum. The bytes are valid until the next call.
  absl::StatusOr<absl::string_view> Decompress(absl::string_view frame,
                                               size_t content_bound);

 private:
  ZSTD_DCtx* context_;  // owned
  std::unique_ptr<char[]> buffer_;
  size_t capacity_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_STREAM_FRAME_CODEC_H_
