#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "format/limits.h"
#include "format/objects_index.pb.h"
#include "format/stream/status_util.h"
#include "readers/objects/findings/analysis.h"
#include "readers/objects/graph/dump_facts.h"
#include "readers/objects/graph/graph_arrays.h"
#include "readers/objects/index/index_layout.h"

namespace pymemrun {
namespace {

constexpr uint32_t kNoItem = ~uint32_t{0};

absl::Status Check(bool is_right, absl::string_view name) {
  if (is_right) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("expected a graph, found ", name, " that do not fit it"));
}

// Whether there are `count` items, each below `limit`, or kNoItem if that is
// allowed.
bool AreBelow(const GrownArray<uint32_t>& items, size_t count, uint64_t limit,
              bool may_be_none = false) {
  // Adding 1 turns kNoItem into 0. The loops here do not stop early: most
  // arrays are valid, and the compiler vectorises them.
  const uint32_t more = may_be_none ? 1 : 0;
  uint32_t most = 0;
  for (const uint32_t item : items) most = std::max(most, item + more);
  return items.size() == count && (count == 0 || most < limit + more);
}

// Whether items ascend from 0 to `last`.
bool AreBounds(const GrownArray<uint32_t>& items, size_t count, uint64_t last) {
  if (items.size() != count || items[0] != 0 || items[count - 1] != last) {
    return false;
  }
  bool rises = true;
  for (size_t i = 1; i < count; ++i) rises &= items[i - 1] <= items[i];
  return rises;
}

// Whether these are ascending node numbers, without duplicates.
bool AreSomeNodes(const GrownArray<uint32_t>& items, size_t nodes) {
  return AreBelow(items, items.size(), nodes) &&
         std::adjacent_find(items.begin(), items.end(),
                            [](uint32_t a, uint32_t b) { return a >= b; }) ==
             items.end();
}

bool AreSizes(const GrownArray<uint64_t>& items) {
  return std::all_of(items.begin(), items.end(),
                     [](uint64_t item) { return item <= kMaxSizeBytes; });
}

bool AreLargeSizes(const GraphArrays& graph) {
  const auto is_large = [&graph](uint32_t node) {
    return graph.sizes[node] == GraphArrays::kLargeSize;
  };
  return graph.large_sizes.size() == graph.large_nodes.size() &&
         AreSomeNodes(graph.large_nodes, graph.sizes.size()) &&
         AreSizes(graph.large_sizes) &&
         std::all_of(graph.large_nodes.begin(), graph.large_nodes.end(),
                     is_large) &&
         static_cast<size_t>(std::count(graph.sizes.begin(), graph.sizes.end(),
                                        GraphArrays::kLargeSize)) ==
             graph.large_nodes.size();
}

// Reads the details of all nodes once, so that later reads need no check.
bool AreDetails(const GraphArrays& graph) {
  constexpr uint32_t kStep = GraphArrays::kDetailsStep;
  const size_t nodes = graph.addresses.size();
  if (graph.details_at.size() != (nodes + kStep - 1) / kStep) return false;
  absl::string_view rest(graph.details.data(), graph.details.size());
  for (size_t node = 0; node < nodes; ++node) {
    if (node % kStep == 0 &&
        graph.details_at[node / kStep] != graph.details.size() - rest.size()) {
      return false;
    }
    if (!SkipNodeDetails(&rest)) return false;
  }
  return rest.empty();
}

// Ends that ascend, the last one at the end of the bytes: no name is outside.
bool AreNames(const GraphArrays& graph) {
  const GrownArray<uint64_t>& ends = graph.name_ends;
  return ends.size() > 0 && ends.size() < kNoItem &&
         std::is_sorted(ends.begin(), ends.end()) &&
         ends[ends.size() - 1] == graph.name_bytes.size();
}

absl::Status CheckGraph(const GraphArrays& graph, size_t types) {
  const size_t nodes = graph.addresses.size(), edges = graph.targets.size();
  RETURN_IF_ERROR(Check(nodes > 0 && nodes <= kMaxObjects, "nodes"));
  RETURN_IF_ERROR(Check(edges < kNoItem, "references"));
  RETURN_IF_ERROR(Check(graph.sizes.size() == nodes, "sizes"));
  RETURN_IF_ERROR(Check(AreBelow(graph.types, nodes, types), "types"));
  RETURN_IF_ERROR(Check(graph.flags.size() == nodes, "flags"));
  RETURN_IF_ERROR(Check(AreBounds(graph.first_edges, nodes + 1, edges),
                        "first references"));
  RETURN_IF_ERROR(Check(AreBelow(graph.targets, edges, nodes), "targets"));
  RETURN_IF_ERROR(Check(graph.kinds.size() == edges, "kinds"));
  RETURN_IF_ERROR(Check(
      AreNames(graph) && AreBelow(graph.names, edges, graph.name_ends.size()),
      "names"));
  RETURN_IF_ERROR(Check(AreLargeSizes(graph), "large sizes"));
  const BesideBlocks& besides = graph.besides;
  RETURN_IF_ERROR(Check(AreSomeNodes(besides.nodes, nodes) &&
                            besides.addresses.size() == besides.nodes.size() &&
                            besides.bytes.size() == besides.nodes.size() &&
                            AreSizes(besides.bytes),
                        "blocks beside objects"));
  return Check(AreDetails(graph), "values");
}

// A retained size includes the node's own size.
bool AreRetained(const GraphArrays& graph,
                 const GrownArray<uint64_t>& retained) {
  if (retained.size() != graph.sizes.size()) return false;
  size_t large = 0;
  bool are_right = true;
  for (size_t node = 0; node < retained.size(); ++node) {
    const uint64_t size = graph.sizes[node] != GraphArrays::kLargeSize
                              ? graph.sizes[node]
                              : graph.large_sizes[large++];
    // A smaller value wraps and is too large.
    are_right &= retained[node] - size <= kMaxSizeBytes;
  }
  return are_right;
}

// Checks a graph with this number of types: every node and reference that an
// array names exists, and each part of an array is within it. Takes linear time
// and no memory. Fails with the name of the invalid array.
absl::Status CheckArrays(const GraphArrays& graph, size_t types,
                         const StoredFindings& findings) {
  RETURN_IF_ERROR(CheckGraph(graph, types));
  const size_t nodes = graph.addresses.size(), edges = graph.targets.size();
  RETURN_IF_ERROR(
      Check(AreBelow(findings.dominators, nodes, nodes, /*may_be_none=*/true) &&
                findings.dominators[0] == kNoItem,
            "dominators"));
  RETURN_IF_ERROR(
      Check(AreRetained(graph, findings.retained), "retained sizes"));
  RETURN_IF_ERROR(Check(AreBounds(findings.first_parents, nodes + 1, edges) &&
                            AreBelow(findings.parent_edges, edges, edges),
                        "references backwards"));
  RETURN_IF_ERROR(
      Check(AreBelow(findings.distances, nodes, nodes, /*may_be_none=*/true),
            "distances"));
  RETURN_IF_ERROR(
      Check(AreBelow(findings.last_edges, nodes, edges, /*may_be_none=*/true),
            "chains"));
  return Check(findings.retained_by_type.size() == types,
               "retained sizes of types");
}

// An object takes some 60 bytes in an index, and a byte of a dump has at most
// 256 objects: see dump_loader.cc. A larger file is not an index of this dump.
constexpr uint64_t kMostIndexBytes = uint64_t{64} << 20;
constexpr uint64_t kMostIndexRatio = 256 * 64;

// Why an index cannot be trusted; empty: it can. Its results replace the
// dump's, so only users who may write the dump, or this process, may have
// written it.
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

// The bytes of an index. If the owner could change the file after the check, it
// is copied; otherwise it is mapped.
class IndexBytes {
 public:
  IndexBytes() = default;
  ~IndexBytes() {
    if (data_ != MAP_FAILED) munmap(data_, size_);
  }
  IndexBytes(const IndexBytes&) = delete;
  IndexBytes& operator=(const IndexBytes&) = delete;

  absl::Status Read(const std::string& path, const DumpStamp& stamp) {
    // Opening a FIFO would wait for its writer.
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

  // If the file became shorter, zeros remain: no index ends with them.
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

// Reads the arrays of an index.
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

// The arrays are views of the file: opening copies nothing.
std::unique_ptr<ObjectGraph> GraphOf(const ObjectsIndex& index,
                                     GraphArrays arrays) {
  auto graph = std::make_unique<ObjectGraph>();
  DumpFacts& facts = graph->facts();
  facts.header = index.header();
  facts.begin = index.begin();
  if (index.has_end()) facts.end = index.end();
  facts.lost_references = index.lost_references();
  facts.has_root = index.has_root();
  // A graph starts with the type of id 0.
  for (int i = 1; i < index.type_size(); ++i) graph->AddType(index.type(i));
  graph->TakeArrays(std::move(arrays));
  return graph;
}

}  // namespace

// In this order: trust in the file, its checksums, then the meaning of each
// array. Nothing is used before it was checked.
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
