#include "readers/objects_index/index_tail.h"

#include <zlib.h>

#include <cstring>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "readers/objects_index/index_file.h"

namespace pymemrun {
namespace {

// What stands behind the message, as it lies in the file.
struct Fixed {
  uint32_t size_bytes, crc;  // of the message
  char magic[8];
};
static_assert(sizeof(Fixed) == 16);

uint32_t CrcOf(absl::string_view bytes) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

absl::Status Wrong(uint64_t offset, absl::string_view expected,
                   absl::string_view found) {
  return absl::DataLossError(absl::StrCat("byte ", offset, ": expected ",
                                          expected, ", found ", found));
}

}  // namespace

void AppendIndexTail(const ObjectsIndex& index, std::string* bytes) {
  const std::string message = index.SerializeAsString();
  Fixed fixed = {static_cast<uint32_t>(message.size()), CrcOf(message), {}};
  std::memcpy(fixed.magic, kIndexMagic.data(), sizeof(fixed.magic));
  bytes->append(message);
  bytes->append(reinterpret_cast<const char*>(&fixed), sizeof(fixed));
}

absl::StatusOr<ObjectsIndex> ReadIndexTail(absl::string_view file) {
  if (!absl::StartsWith(file, kIndexMagic)) {
    return Wrong(0, "the index of a dump", "something else");
  }
  Fixed fixed;
  if (file.size() < kIndexMagic.size() + sizeof(fixed)) {
    return Wrong(file.size(), "an index", "the end");
  }
  const size_t at = file.size() - sizeof(fixed);
  std::memcpy(&fixed, file.data() + at, sizeof(fixed));
  if (absl::string_view(fixed.magic, sizeof(fixed.magic)) != kIndexMagic) {
    return Wrong(at, "the end of an index", "a file that was cut off");
  }
  if (fixed.size_bytes > at - kIndexMagic.size() ||
      fixed.size_bytes > std::numeric_limits<int>::max()) {
    return Wrong(at, "a size within the file", absl::StrCat(fixed.size_bytes));
  }
  const absl::string_view message =
      file.substr(at - fixed.size_bytes, fixed.size_bytes);
  ObjectsIndex index;
  if (CrcOf(message) != fixed.crc ||
      !index.ParseFromArray(message.data(), static_cast<int>(message.size()))) {
    return Wrong(at - fixed.size_bytes, "what the index holds",
                 "damaged bytes");
  }
  return index;
}

}  // namespace pymemrun
