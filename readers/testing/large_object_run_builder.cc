#include "readers/testing/large_object_run_builder.h"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "format/objects/object_batch.h"
#include "format/stream/stream_writer.h"
#include "readers/testing/run_builder.h"

namespace pymemrun {
namespace {

constexpr uint32_t kTypes = 400;
constexpr uint32_t kRootType = 1, kTextType = 2, kFirstContainer = 3;

void Must(const absl::Status& status) {
  if (!status.ok()) abort();
}

void WriteDefinitions(StreamWriter* writer) {
  Record record;
  *record.mutable_header() = RunBuilder::DefaultHeader();
  Must(writer->Append(record));
  record.mutable_objects_begin();
  Must(writer->Append(record));
  for (uint32_t id = 1; id <= kTypes + 2; ++id) {
    ObjectTypeDef* type = record.mutable_object_type();
    type->set_id(id);
    type->set_name(id == kRootType   ? "<root>"
                   : id == kTextType ? "str"
                                     : absl::StrCat("Thing", id));
    type->set_module(id < kFirstContainer ? "builtins" : "app");
    type->set_synthetic(id == kRootType);
    Must(writer->Append(record));
  }
}

// Node after node, with its references.
class LargeObjectRun {
 public:
  LargeObjectRun(uint64_t nodes, StreamWriter* writer)
      : nodes_(nodes), encoder_([writer](absl::string_view bytes) {
          return writer->AppendSerialized(bytes);
        }) {}

  void Write() {
    while (encoder_.nodes() < encoder_.next_new()) AddNode();
    Must(encoder_.Flush());
  }

 private:
  void AddNode() {
    const uint64_t number = encoder_.nodes();
    const bool is_last = encoder_.next_new() == number + 1;
    const bool is_container = is_last || random_() % 4 == 0;
    ObjectNode node;
    std::string text;
    node.type = number == 0    ? kRootType
                : is_container ? kFirstContainer + random_() % kTypes
                               : kTextType;
    node.address = number == 0 ? 0 : 0x7f0000000000 + 64 * (random_() % nodes_);
    node.size_bytes = number == 0 ? 0 : 48 + 8 * (random_() % 20);
    if (number != 0 && !is_container) {
      text = absl::StrCat("value ", random_() % (nodes_ / 2 + 1));
      node.text = text;
      node.length = text.size();
    }
    Must(encoder_.AddNode(node));
    if (!is_container) return;
    const uint64_t wanted = is_last ? 8 : 1 + random_() % 7;
    const uint64_t room = nodes_ - std::min(nodes_, encoder_.next_new());
    for (uint64_t i = 0; i < std::min(wanted, room); ++i) {
      Must(encoder_.AddReference(EDGE_INDEX, 0, encoder_.next_new()));
    }
    if (random_() % 3 != 0) {
      Must(encoder_.AddReference(EDGE_OTHER, 0,
                                 random_() % encoder_.next_new()));
    }
  }

  const uint64_t nodes_;
  std::mt19937_64 random_{18};
  ObjectBatchEncoder encoder_;
};

}  // namespace

void BuildLargeObjectRun(uint64_t nodes, ByteSink* sink) {
  const auto writer = std::move(*StreamWriter::Create(sink, {}));
  WriteDefinitions(writer.get());
  LargeObjectRun(nodes, writer.get()).Write();
  Record record;
  record.mutable_objects_end();
  Must(writer->Append(record));
  Must(writer->Flush());
}

}  // namespace pymemrun
