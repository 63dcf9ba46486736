#include "readers/objects/meliae_loader.h"

#include <zlib.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "format/limits.h"
#include "format/stream/status_util.h"
#include "readers/objects/dump_loader.h"
#include "readers/objects/json_line.h"

namespace pymemrun {
namespace {

// A list of ten million references takes some 150 MB.
constexpr size_t kMostLineBytes = size_t{256} << 20;
constexpr absl::string_view kGzip = "\x1f\x8b";

// What is packed with gzip.
class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(ByteSource* source) : source_(source) {
    // 15 bits of window, and gzip's header.
    is_open_ = inflateInit2(&stream_, 15 + 16) == Z_OK;
  }
  ~GzipSource() override {
    if (is_open_) inflateEnd(&stream_);
  }
  absl::StatusOr<size_t> Read(char* buffer, size_t size) override {
    if (!is_open_) return absl::ResourceExhaustedError("no memory for gzip");
    stream_.next_out = reinterpret_cast<Bytef*>(buffer);
    stream_.avail_out = static_cast<uInt>(size);
    while (stream_.avail_out == size && !ended_) {
      if (stream_.avail_in == 0) {
        ASSIGN_OR_RETURN(const size_t got, source_->Read(in_, sizeof(in_)));
        if (got == 0) {
          // What came so far is given first.
          const size_t given = size - stream_.avail_out;
          if (given > 0) return given;
          return absl::DataLossError("the gzip file is cut off");
        }
        stream_.next_in = reinterpret_cast<Bytef*>(in_);
        stream_.avail_in = static_cast<uInt>(got);
      }
      const int result = inflate(&stream_, Z_NO_FLUSH);
      ended_ = result == Z_STREAM_END;
      if (result != Z_OK && !ended_) {
        return absl::DataLossError("the gzip file is damaged");
      }
    }
    return size - stream_.avail_out;
  }

 private:
  ByteSource* const source_;
  z_stream stream_ = {};
  bool is_open_ = false, ended_ = false;
  char in_[1 << 16];
};

// Cuts a source into lines. What was given is thrown away once for each read,
// not for each line: lines may be empty, and there may be millions.
class Lines {
 public:
  explicit Lines(ByteSource* source) : source_(source) {}
  // Gives the next line, which is valid until the next call; false at the end.
  absl::StatusOr<bool> Next(absl::string_view* line) {
    size_t searched = given_;
    while (true) {
      const size_t end = rest_.find('\n', searched);
      if (end != std::string::npos || (ended_ && given_ < rest_.size())) {
        *line = absl::string_view(rest_).substr(given_, end - given_);
        given_ = end == std::string::npos ? rest_.size() : end + 1;
        return true;
      }
      if (ended_) return false;
      rest_.erase(0, std::exchange(given_, 0));
      searched = rest_.size();
      if (searched > kMostLineBytes) {
        return absl::DataLossError("a line is too long");
      }
      rest_.resize(searched + kReadBytes);
      ASSIGN_OR_RETURN(const size_t got,
                       source_->Read(&rest_[searched], kReadBytes));
      rest_.resize(searched + got);
      ended_ = got == 0;
    }
  }

 private:
  static constexpr size_t kReadBytes = 1 << 16;
  ByteSource* const source_;
  std::string rest_;
  size_t given_ = 0;  // of `rest_`
  bool ended_ = false;
};

class MeliaeLoader {
 public:
  explicit MeliaeLoader(ObjectGraph* graph) : graph_(*graph) {
    ObjectNode root;
    root.type = TypeOf("<root>", /*synthetic=*/true);
    graph_.AddNode(root);
    first_reference_.push_back(0);
  }
  absl::Status Add(const MeliaeObject& object);
  absl::Status Finish();

 private:
  uint32_t TypeOf(const std::string& name, bool synthetic = false);
  EdgeKind KindOf(NodeId from, uint64_t index, uint64_t count,
                  NodeId target) const;

  ObjectGraph& graph_;
  absl::flat_hash_map<std::string, uint32_t> types_;
  std::vector<uint64_t> references_;       // addresses
  std::vector<uint64_t> first_reference_;  // of each node
};

uint32_t MeliaeLoader::TypeOf(const std::string& name, bool synthetic) {
  const auto [found, is_new] =
      types_.try_emplace(name, static_cast<uint32_t>(graph_.types().size()));
  if (is_new) {
    ObjectTypeDef type;
    type.set_name(name);
    type.set_synthetic(synthetic);
    graph_.AddType(type);
  }
  return found->second;
}

absl::Status MeliaeLoader::Add(const MeliaeObject& object) {
  if (graph_.nodes() >= kMaxObjects) {
    return absl::ResourceExhaustedError("more objects than can be read");
  }
  ObjectNode node;
  node.address = *object.address;
  node.size_bytes = *object.size_bytes;
  node.length = object.length;
  if (object.text.has_value()) node.text = *object.text;
  node.type = TypeOf(object.type);
  first_reference_.push_back(references_.size());
  references_.insert(references_.end(), object.references.begin(),
                     object.references.end());
  graph_.AddNode(node);
  return absl::OkStatus();
}

// A dict has its keys and values in turn, if it has both. An instance that has
// two references has its __dict__ and its type.
EdgeKind MeliaeLoader::KindOf(NodeId from, uint64_t index, uint64_t count,
                              NodeId target) const {
  const std::string& type = graph_.type_name(graph_.type(from));
  const std::string& of = graph_.type_name(graph_.type(target));
  if (type == "dict") {
    const auto length = graph_.details(from).length;
    if (length.has_value() && *length * 2 != count) return EDGE_OTHER;
    return index % 2 == 0 ? EDGE_KEY : EDGE_VALUE;
  }
  if (type == "set" || type == "frozenset") return EDGE_KEY;
  if (type == "list" || type == "tuple") return EDGE_INDEX;
  if (of == "type" && index + 1 == count) return EDGE_TYPE;
  if (of == "dict" && index == 0 && (count == 2 || type == "module")) {
    return EDGE_DICT;
  }
  return EDGE_OTHER;
}

absl::Status MeliaeLoader::Finish() {
  if (graph_.nodes() == 1) {
    return absl::InvalidArgumentError("holds no object graph");
  }
  first_reference_.push_back(references_.size());
  for (NodeId node = 1; node < graph_.nodes(); ++node) {
    const uint64_t begin = first_reference_[node];
    const uint64_t count = first_reference_[node + 1] - begin;
    for (uint64_t i = 0; i < count; ++i) {
      ObjectReference reference;
      reference.from = node;
      reference.target = graph_.Find(references_[begin + i]);
      if (reference.target == kNoNode) {
        ++graph_.facts().lost_references;
        continue;
      }
      reference.kind = KindOf(node, i, count, reference.target);
      RETURN_IF_ERROR(graph_.AddReference(reference));
    }
  }
  references_ = {};
  graph_.Finish();
  graph_.facts().has_root = false;
  graph_.facts().end.emplace();
  AddMissingRoots(&graph_);
  return absl::OkStatus();
}

// "line 7: expected a JSON object with address and size; 3 lines left out".
std::string BadLines(uint64_t first, uint64_t count) {
  return absl::StrCat(
      "line ", first, ": expected a JSON object with address and size",
      count == 1 ? ": it is left out"
                 : absl::StrCat(": ", count, " such lines are left out"));
}

absl::Status LoadLines(ByteSource* source, ObjectGraph* graph) {
  MeliaeLoader loader(graph);
  Lines lines(source);
  absl::string_view line;
  MeliaeObject object;
  uint64_t first_bad = 0, bad = 0;
  for (uint64_t number = 1;; ++number) {
    const absl::StatusOr<bool> more = lines.Next(&line);
    if (!more.ok()) {
      if (graph->nodes() == 1) return more.status();
      graph->facts().damage =
          absl::StrCat("line ", number, ": ", more.status().message(),
                       ": what follows is missing");
    } else if (bad > 0) {
      graph->facts().damage = BadLines(first_bad, bad);
    }
    if (!more.ok() || !*more) break;
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) {
      line.remove_suffix(1);
    }
    if (line.empty() || line == "[" || line == "]") continue;
    if (ParseMeliaeLine(line, &object)) {
      RETURN_IF_ERROR(loader.Add(object));
    } else if (bad++ == 0) {
      first_bad = number;
    }
  }
  if (graph->nodes() == 1 && bad > 0) {
    return absl::DataLossError(BadLines(first_bad, bad));
  }
  return loader.Finish();
}

}  // namespace

bool LooksLikeMeliae(PeekedSource* source) {
  const absl::string_view begin = source->Peek(2);
  return begin == kGzip ||
         (!begin.empty() && (begin[0] == '{' || begin[0] == '['));
}

absl::Status LoadMeliae(ByteSource* source, ObjectGraph* graph) {
  PeekedSource peeked(source);
  const bool is_packed = peeked.Peek(kGzip.size()) == kGzip;
  if (!is_packed) return LoadLines(&peeked, graph);
  GzipSource unpacked(&peeked);
  return LoadLines(&unpacked, graph);
}

}  // namespace pymemrun
