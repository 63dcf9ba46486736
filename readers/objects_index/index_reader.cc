#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "format/limits.h"
#include "format/stream/status_util.h"
#include "readers/objects_index/index_file.h"
#include "readers/objects_index/index_tail.h"
#include "readers/objects_index/packed_details.h"

namespace pymemrun {
namespace {

// An index is some forty times as large as its dump. One that is far larger is
// not worth its memory.
constexpr uint64_t kMostIndexBytes = uint64_t{64} << 20;
constexpr uint64_t kMostIndexRatio = 1024;

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

// A file's bytes, copied before they are checked: nobody can change them after.
class FileCopy {
 public:
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
  absl::string_view bytes() const { return {bytes_.get(), size_}; }

 private:
  absl::Status ReadOpen(int fd, const DumpStamp& stamp) {
    struct stat info;
    if (fstat(fd, &info) != 0) {
      return absl::InvalidArgumentError(strerror(errno));
    }
    const absl::string_view distrust = Distrust(info, stamp);
    if (!distrust.empty()) return absl::InvalidArgumentError(distrust);
    const auto size = static_cast<size_t>(info.st_size);
    // Columns are read as numbers of 64 bits: new[] aligns for those.
    bytes_.reset(new (std::nothrow) char[size]);
    if (bytes_ == nullptr) {
      return absl::ResourceExhaustedError(strerror(ENOMEM));
    }
    FdSource source(fd);
    while (size_ < size) {
      ASSIGN_OR_RETURN(const size_t got,
                       source.Read(bytes_.get() + size_, size - size_));
      if (got == 0) break;  // it became shorter; what is missing is found below
      size_ += got;
    }
    return absl::OkStatus();
  }

  std::unique_ptr<char[]> bytes_;
  size_t size_ = 0;
};

// All that an analysis reads of an index, and the file's bytes.
struct OpenedIndex final : StoredFindings {
  FileCopy file;
  StoredGraph graph;
  MappedColumn details_at, name_at;
  PackedDetails details, names;
};

// What a column must be like.
struct Expected {
  MappedColumn* column;
  uint64_t rows, limit;
  bool rises;
};

uint64_t BlocksOf(uint64_t rows) {
  return (rows + kDetailsBlock - 1) / kDetailsBlock;
}

absl::Status OpenColumn(const ObjectsIndex::Column& at,
                        const Expected& expected, OpenedIndex* opened) {
  if (at.rows() == expected.rows &&
      expected.column->Open({opened->file.bytes(), at.offset(), at.words(),
                             at.rows(), expected.limit, expected.rises},
                            &opened->damage)) {
    return absl::OkStatus();
  }
  return absl::DataLossError(absl::StrCat(
      "byte ", at.offset(), ": expected a column of ", expected.rows,
      " rows, found ", at.rows(), " in ", at.words(), " words"));
}

// Blocks beside objects; an older index has none.
absl::Status OpenBesides(const ObjectsIndex& index, uint64_t nodes,
                         OpenedIndex* opened) {
  if (index.column_size() <= ObjectsIndex::BESIDE_BYTES) {
    return absl::OkStatus();
  }
  const uint64_t besides = index.column(ObjectsIndex::BESIDE_NODE).rows();
  if (besides > nodes) {
    return absl::DataLossError(absl::StrCat(
        "expected at most ", nodes, " blocks beside objects, found ", besides));
  }
  const Expected more[] = {
      {&opened->graph.beside_nodes, besides, nodes, true},
      {&opened->graph.besides, besides, 0, false},
      {&opened->graph.beside_bytes, besides, kMaxSizeBytes + 1, false}};
  for (int i = 0; i < 3; ++i) {
    RETURN_IF_ERROR(OpenColumn(index.column(ObjectsIndex::BESIDE_NODE + i),
                               more[i], opened));
  }
  return absl::OkStatus();
}

// Opens all columns, which are checked against the numbers of nodes and
// references.
absl::Status OpenColumns(const ObjectsIndex& index, OpenedIndex* opened) {
  if (index.column_size() <= ObjectsIndex::NAME_AT) {
    return absl::DataLossError(
        absl::StrCat("expected ", ObjectsIndex::NAME_AT + 1, " columns, found ",
                     index.column_size()));
  }
  const uint64_t nodes = index.column(ObjectsIndex::ADDRESS).rows();
  const uint64_t edges = index.column(ObjectsIndex::TARGET).rows();
  if (nodes == 0 || nodes > kMaxObjects ||
      edges >= std::numeric_limits<uint32_t>::max()) {
    return absl::DataLossError(absl::StrCat("expected a graph, found ", nodes,
                                            " nodes, ", edges, " references"));
  }
  const auto types = static_cast<uint64_t>(index.type_size());
  StoredGraph& graph = opened->graph;
  const Expected all[] = {{&graph.addresses, nodes, 0, false},
                          {&graph.sizes, nodes, kMaxSizeBytes + 1, false},
                          {&graph.types, nodes, types, false},
                          {&graph.flags, nodes, 256, false},
                          {&graph.first_edges, nodes + 1, edges + 1, true},
                          {&graph.targets, edges, nodes, false},
                          {&graph.kinds, edges, 256, false},
                          {&graph.names, edges, index.names(), false},
                          {&opened->dominators, nodes, nodes + 1, false},
                          {&opened->kept, nodes, kMaxSizeBytes + 1, false},
                          {&opened->first_parents, nodes + 1, edges + 1, true},
                          {&opened->parent_edges, edges, edges, false},
                          {&opened->distances, nodes, nodes + 1, false},
                          {&opened->last_edges, nodes, edges + 1, false},
                          {&opened->details_at, BlocksOf(nodes) + 1,
                           index.details_bytes() + 1, true},
                          {&opened->name_at, BlocksOf(index.names()) + 1,
                           index.names_bytes() + 1, true}};
  for (int i = 0; i <= ObjectsIndex::NAME_AT; ++i) {
    RETURN_IF_ERROR(OpenColumn(index.column(i), all[i], opened));
  }
  return OpenBesides(index, nodes, opened);
}

// Texts that are in the file from `offset` on.
absl::Status OpenTexts(uint64_t offset, uint64_t bytes, uint64_t rows,
                       const MappedColumn* begins, OpenedIndex* opened,
                       PackedDetails* texts) {
  const absl::string_view file = opened->file.bytes();
  if (offset > file.size() || bytes > file.size() - offset) {
    return absl::DataLossError(
        absl::StrCat("byte ", offset, ": expected values and names, found ",
                     bytes, " bytes beyond the end"));
  }
  texts->Open(file.substr(offset, bytes), offset, rows, begins,
              &opened->damage);
  return absl::OkStatus();
}

std::unique_ptr<ObjectGraph> GraphOf(const ObjectsIndex& index,
                                     OpenedIndex* opened) {
  auto graph = std::make_unique<ObjectGraph>();
  DumpFacts& facts = graph->facts();
  facts.header = index.header();
  facts.begin = index.begin();
  if (index.has_end()) facts.end = index.end();
  facts.lost_references = index.lost_references();
  facts.has_root = index.has_root();
  // A graph has that of id 0 from the start.
  for (int i = 1; i < index.type_size(); ++i) graph->AddType(index.type(i));
  opened->graph.details = &opened->details;
  opened->graph.name_texts = &opened->names;
  opened->graph.name_count = index.names();
  opened->graph.objects = index.objects();
  opened->graph.total_bytes = index.size_bytes();
  graph->UseStored(opened->graph);
  return graph;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ObjectAnalysis>> OpenIndex(
    const std::string& path, const DumpStamp& stamp) {
  auto opened = std::make_unique<OpenedIndex>();
  RETURN_IF_ERROR(opened->file.Read(path, stamp));
  ASSIGN_OR_RETURN(const ObjectsIndex index,
                   ReadIndexTail(opened->file.bytes()));
  if (!(stamp == DumpStamp{index.dump_bytes(), index.dump_crc()})) {
    return absl::FailedPreconditionError("is the index of another dump");
  }
  const uint64_t nodes = index.column_size() == 0 ? 0 : index.column(0).rows();
  if (index.objects() > nodes || index.size_bytes() / kMaxSizeBytes > nodes) {
    return absl::DataLossError(
        absl::StrCat("expected at most ", nodes, " objects, found ",
                     index.objects(), " of ", index.size_bytes(), " bytes"));
  }
  if (index.type_size() == 0 || index.names() == 0 ||
      index.retained_by_type_size() != index.type_size()) {
    return absl::DataLossError(absl::StrCat("expected what is retained by ",
                                            index.type_size(), " types, found ",
                                            index.retained_by_type_size()));
  }
  RETURN_IF_ERROR(OpenColumns(index, opened.get()));
  RETURN_IF_ERROR(OpenTexts(index.details_offset(), index.details_bytes(),
                            opened->graph.addresses.size(), &opened->details_at,
                            opened.get(), &opened->details));
  RETURN_IF_ERROR(OpenTexts(index.names_offset(), index.names_bytes(),
                            index.names(), &opened->name_at, opened.get(),
                            &opened->names));
  opened->retained_by_type.assign(index.retained_by_type().begin(),
                                  index.retained_by_type().end());
  auto graph = GraphOf(index, opened.get());
  return std::make_unique<ObjectAnalysis>(std::move(graph), std::move(opened));
}

}  // namespace pymemrun
