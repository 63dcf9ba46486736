#include "readers/objects/index/index_layout.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "format/stream/status_util.h"
#include "readers/run/input_file.h"

namespace pymemrun {
namespace {

// A stamp reads at most 64 KiB, however large the dump.
constexpr uint64_t kPieces = 16, kPieceBytes = 4096;

constexpr size_t kMagicBytes = sizeof(IndexTail::magic);
constexpr size_t kLanes = 8;

// Eight independent sums, so that the processor can compute them in parallel.
struct Lanes {
  uint64_t sums[kLanes] = {1, 2, 3, 4, 5, 6, 7, 8};

  // Multiplication by an odd number, and rotation: both can be reversed, so a
  // different word always gives a different sum.
  static uint64_t Mix(uint64_t sum, uint64_t word) {
    const uint64_t product = (sum ^ word) * 0x9e3779b97f4a7c15;
    return product << 29 | product >> 35;
  }
  void Add(const char* bytes, size_t size) {
    uint64_t words[kLanes] = {};
    if (size > 0) std::memcpy(words, bytes, size);
    for (size_t i = 0; i < kLanes; ++i) sums[i] = Mix(sums[i], words[i]);
  }
};

absl::Status Wrong(uint64_t offset, absl::string_view expected,
                   absl::string_view found) {
  return absl::DataLossError(absl::StrCat("byte ", offset, ": expected ",
                                          expected, ", found ", found));
}

// Covers the table and the fields of the tail before the checksum.
uint64_t TailChecksum(absl::string_view table, const IndexTail& tail) {
  return Lanes::Mix(IndexChecksum(table),
                    IndexChecksum({reinterpret_cast<const char*>(&tail),
                                   offsetof(IndexTail, checksum)}));
}

// `begin`, `end`: where the section may be.
absl::Status CheckSection(absl::string_view file, const IndexSection& section,
                          uint64_t begin, uint64_t end) {
  if (section.offset % 8 != 0 || section.offset < begin ||
      section.offset > end || section.item_bytes == 0 ||
      section.items > (end - section.offset) / section.item_bytes) {
    return Wrong(section.offset, "an array within the file",
                 absl::StrCat(section.items, " items"));
  }
  if (IndexChecksum(
          file.substr(section.offset, section.items * section.item_bytes)) !=
      section.checksum) {
    return Wrong(section.offset, "a whole array", "damaged bytes");
  }
  return absl::OkStatus();
}

// The end of a file. Does not check the table. It is at the end, as sizes and
// checksums are known only when all arrays were written.
absl::StatusOr<IndexTail> ReadTail(absl::string_view file) {
  if (!absl::StartsWith(file, kIndexMagic)) {
    // All but the last character of the magic are equal: another version.
    if (file.size() >= kMagicBytes &&
        absl::StartsWith(file, kIndexMagic.substr(0, kMagicBytes - 1))) {
      return absl::FailedPreconditionError("is an index of another version");
    }
    return Wrong(0, "the index of a dump", "something else");
  }
  if (file.size() % 8 != 0 || file.size() < kMagicBytes + sizeof(IndexTail)) {
    return Wrong(file.size(), "an index", "the end");
  }
  IndexTail tail;
  const size_t at = file.size() - sizeof(tail);
  std::memcpy(&tail, file.data() + at, sizeof(tail));
  if (absl::string_view(tail.magic, kMagicBytes) != kIndexMagic) {
    return Wrong(at, "the end of an index", "a file that was cut off");
  }
  return tail;
}

}  // namespace

uint64_t IndexChecksum(absl::string_view bytes) {
  constexpr size_t kStep = kLanes * sizeof(uint64_t);
  Lanes lanes;
  size_t at = 0;
  // Whole steps first; the rest is padded with zeros, and the size is mixed in.
  for (; bytes.size() - at >= kStep; at += kStep) {
    lanes.Add(bytes.data() + at, kStep);
  }
  lanes.Add(bytes.data() + at, bytes.size() - at);
  uint64_t sum = bytes.size();
  for (const uint64_t lane : lanes.sums) sum = Lanes::Mix(sum, lane);
  return sum;
}

std::string EncodeTable(absl::Span<const IndexSection> sections,
                        const DumpStamp& stamp) {
  std::string bytes(reinterpret_cast<const char*>(sections.data()),
                    sections.size() * sizeof(IndexSection));
  IndexTail tail = {stamp.size_bytes,
                    stamp.crc,
                    static_cast<uint32_t>(sections.size()),
                    0,
                    {}};
  tail.checksum = TailChecksum(bytes, tail);
  std::memcpy(tail.magic, kIndexMagic.data(), sizeof(tail.magic));
  bytes.append(reinterpret_cast<const char*>(&tail), sizeof(tail));
  return bytes;
}

absl::StatusOr<absl::Span<const IndexSection>> ReadTable(
    absl::string_view file, const DumpStamp& stamp) {
  ASSIGN_OR_RETURN(const IndexTail tail, ReadTail(file));
  const size_t at = file.size() - sizeof(tail);
  const size_t table_bytes = tail.sections * sizeof(IndexSection);
  if (table_bytes > at - kMagicBytes) {
    return Wrong(at, "a table within the file",
                 absl::StrCat(tail.sections, " arrays"));
  }
  const size_t table = at - table_bytes;
  // Checked before the table is used.
  if (TailChecksum(file.substr(table, table_bytes), tail) != tail.checksum) {
    return Wrong(table, "a table of arrays", "damaged bytes");
  }
  if (!(stamp == DumpStamp{tail.dump_bytes, tail.dump_crc})) {
    return absl::FailedPreconditionError("is the index of another dump");
  }
  const absl::Span<const IndexSection> sections(
      reinterpret_cast<const IndexSection*>(file.data() + table),
      tail.sections);
  uint64_t begin = kMagicBytes;
  // Sections ascend, so they cannot overlap.
  for (const IndexSection& section : sections) {
    RETURN_IF_ERROR(CheckSection(file, section, begin, table));
    begin = section.offset + section.items * section.item_bytes;
  }
  return sections;
}

absl::StatusOr<DumpStamp> StampOf(const std::string& path) {
  // Opening a pipe here would break its writer.
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
    // Evenly spaced; the last piece ends at the end of the file.
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
