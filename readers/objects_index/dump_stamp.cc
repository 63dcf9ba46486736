#include "readers/objects_index/dump_stamp.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>

#include "format/stream/status_util.h"
#include "readers/run/input_file.h"

namespace pymemrun {
namespace {

constexpr uint64_t kPieces = 16, kPieceBytes = 4096;

}  // namespace

absl::StatusOr<DumpStamp> StampOf(const std::string& path) {
  // A pipe would lose its writer by being opened here.
  struct stat info;
  if (path == "-" ||
      (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode))) {
    return absl::InvalidArgumentError("an index needs a dump in a plain file");
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<InputFile> file,
                   InputFile::Open(path));
  if (fstat(file->fd(), &info) != 0) {
    return absl::InvalidArgumentError(strerror(errno));
  }
  DumpStamp stamp;
  stamp.owner = info.st_uid;
  stamp.size_bytes = file->size_bytes();
  uLong crc = crc32(0, nullptr, 0);
  uint64_t done = 0;
  for (uint64_t i = 0; i < kPieces; ++i) {
    const uint64_t last =
        stamp.size_bytes - std::min(stamp.size_bytes, kPieceBytes);
    const uint64_t at =
        std::max(done, last / (kPieces - 1) * i +
                           (i + 1 == kPieces ? last % (kPieces - 1) : 0));
    char piece[kPieceBytes];
    const ssize_t got =
        pread(file->fd(), piece, sizeof(piece), static_cast<off_t>(at));
    if (got < 0) return absl::InvalidArgumentError(strerror(errno));
    crc = crc32(crc, reinterpret_cast<const Bytef*>(piece),
                static_cast<uInt>(got));
    done = at + static_cast<uint64_t>(got);
  }
  stamp.crc = static_cast<uint32_t>(crc);
  return stamp;
}

}  // namespace pymemrun
