#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "format/objects_index.pb.h"
#include "format/stream/status_util.h"
#include "readers/objects_index/check_arrays.h"
#include "readers/objects_index/index_file.h"
#include "readers/objects_index/index_layout.h"

namespace pymemrun {
namespace {

// An object has some 60 bytes in an index, and one byte of a dump at most 256
// objects: see dump_loader.cc.
constexpr uint64_t kMostIndexBytes = uint64_t{64} << 20;
constexpr uint64_t kMostIndexRatio = 256 * 64;

// Why an index cannot be trusted; empty: it can. Its answers stand for the
// dump's, so only those may write it who may write the dump, or this process.
absl::string_view Distrust(const struct stat& info, const DumpStamp& stamp) {
  if (!S_ISREG(info.st_mode)) return "expected a plain file";
  if (info.st_uid != geteuid() && info.st_uid != 0 &&
      info.st_uid != stamp.owner) {
    return "belongs to another user";
  }
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return "other users may write to it";
  }
  if (static_cast<uint64_t>(info.st_size) >
      std::max(kMostIndexBytes, stamp.size_bytes * kMostIndexRatio)) {
    return "is too large for this dump";
  }
  return "";
}

// The bytes of an index. A file whose owner could change it after it was
// checked is copied; others are mapped.
class IndexBytes {
 public:
  IndexBytes() = default;
  ~IndexBytes() {
    if (data_ != MAP_FAILED) munmap(data_, size_);
  }
  IndexBytes(const IndexBytes&) = delete;
  IndexBytes& operator=(const IndexBytes&) = delete;

  absl::Status Read(const std::string& path, const DumpStamp& stamp) {
    // A FIFO would wait for its writer.
    const int fd =
        open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
      return errno == ENOENT ? absl::NotFoundError(strerror(ENOENT))
                             : absl::PermissionDeniedError(strerror(errno));
    }
    absl::Status status = ReadOpen(fd, stamp);
    close(fd);
    return status;
  }
  absl::string_view bytes() const {
    if (data_ == MAP_FAILED) return "";
    return {static_cast<const char*>(data_), size_};
  }

 private:
  absl::Status ReadOpen(int fd, const DumpStamp& stamp) {
    struct stat info;
    if (fstat(fd, &info) != 0) {
      return absl::InvalidArgumentError(strerror(errno));
    }
    const absl::string_view distrust = Distrust(info, stamp);
    if (!distrust.empty()) return absl::InvalidArgumentError(distrust);
    size_ = static_cast<size_t>(info.st_size);
    if (size_ == 0) return absl::OkStatus();
    const bool is_ours = info.st_uid == geteuid() || info.st_uid == 0;
    data_ = is_ours ? mmap(nullptr, size_, PROT_READ,
                           MAP_PRIVATE | MAP_POPULATE, fd, 0)
                    : mmap(nullptr, size_, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data_ == MAP_FAILED) {
      return absl::ResourceExhaustedError(strerror(errno));
    }
    return is_ours ? absl::OkStatus() : Copy(fd);
  }

  // Where the file became shorter, zeros are left: no index ends in them.
  absl::Status Copy(int fd) {
    FdSource source(fd);
    for (size_t done = 0; done < size_;) {
      ASSIGN_OR_RETURN(
          const size_t got,
          source.Read(static_cast<char*>(data_) + done, size_ - done));
      if (got == 0) break;
      done += got;
    }
    return absl::OkStatus();
  }

  void* data_ = MAP_FAILED;
  size_t size_ = 0;
};

// Hands out the arrays of an index.
struct ArrayReader {
  const absl::string_view file;
  const absl::Span<const IndexSection> sections;
  absl::Status status;

  template <typename T>
  void operator()(uint32_t number, GrownArray<T>* array) {
    for (const IndexSection& section : sections) {
      if (section.number != number || section.item_bytes != sizeof(T)) continue;
      array->Borrow({reinterpret_cast<const T*>(file.data() + section.offset),
                     static_cast<size_t>(section.items)});
      return;
    }
    status = absl::DataLossError(
        absl::StrCat("expected array ", number, ", found none"));
  }
};

absl::StatusOr<ObjectsIndex> FactsOf(ArrayReader* reader) {
  GrownArray<char> bytes;
  (*reader)(kFactsSection, &bytes);
  ObjectsIndex facts;
  if (bytes.size() > std::numeric_limits<int>::max() ||
      !facts.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
      facts.type_size() == 0) {
    return absl::DataLossError("expected facts of a dump, found others");
  }
  return facts;
}

std::unique_ptr<ObjectGraph> GraphOf(const ObjectsIndex& index,
                                     GraphArrays arrays) {
  auto graph = std::make_unique<ObjectGraph>();
  DumpFacts& facts = graph->facts();
  facts.header = index.header();
  facts.begin = index.begin();
  if (index.has_end()) facts.end = index.end();
  facts.lost_references = index.lost_references();
  facts.has_root = index.has_root();
  // A graph has that of id 0 from the start.
  for (int i = 1; i < index.type_size(); ++i) graph->AddType(index.type(i));
  graph->TakeArrays(std::move(arrays));
  return graph;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ObjectAnalysis>> OpenIndex(
    const std::string& path, const DumpStamp& stamp) {
  const auto file = std::make_shared<IndexBytes>();
  RETURN_IF_ERROR(file->Read(path, stamp));
  ASSIGN_OR_RETURN(const absl::Span<const IndexSection> sections,
                   ReadTable(file->bytes(), stamp));
  ArrayReader reader = {file->bytes(), sections, absl::OkStatus()};
  ASSIGN_OR_RETURN(const ObjectsIndex index, FactsOf(&reader));
  GraphArrays arrays;
  StoredFindings findings;
  arrays.ForEach(std::ref(reader));
  findings.ForEach(std::ref(reader));
  RETURN_IF_ERROR(reader.status);
  findings.retained_by_type.assign(index.retained_by_type().begin(),
                                   index.retained_by_type().end());
  findings.file = file;
  RETURN_IF_ERROR(
      CheckArrays(arrays, static_cast<size_t>(index.type_size()), findings));
  return std::make_unique<ObjectAnalysis>(GraphOf(index, std::move(arrays)),
                                          std::move(findings));
}

}  // namespace pymemrun
