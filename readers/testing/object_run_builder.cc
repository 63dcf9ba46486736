#include "readers/testing/object_run_builder.h"

#include <cstdlib>
#include <functional>

#include "format/objects/object_batch.h"
#include "format/stream/stream_writer.h"
#include "readers/testing/run_builder.h"

namespace pymemrun {
namespace {

constexpr size_t kMostText = 100;
constexpr uint64_t kFirstAddress = 0x1000, kAddressStep = 0x100;

void Must(const absl::Status& status) {
  if (!status.ok()) abort();
}

}  // namespace

ObjectRunBuilder::ObjectRunBuilder() : header_(RunBuilder::DefaultHeader()) {
  nodes_.emplace_back();
  nodes_[0].node.type = Type("<root>", /*synthetic=*/true);
}

uint32_t ObjectRunBuilder::Type(const std::string& name, bool synthetic) {
  const auto [found, is_new] =
      types_.emplace(name, static_cast<uint32_t>(types_.size() + 1));
  if (is_new) {
    Record record;
    ObjectTypeDef* type = record.mutable_object_type();
    const size_t dot = name.rfind('.');
    type->set_id(found->second);
    type->set_name(dot == std::string::npos ? name : name.substr(dot + 1));
    type->set_module(dot == std::string::npos ? "builtins"
                                              : name.substr(0, dot));
    type->set_synthetic(synthetic);
    definitions_.push_back(record);
  }
  return found->second;
}

void ObjectRunBuilder::SetHead(const std::string& name, uint32_t bytes) {
  const uint32_t id = Type(name);
  for (Record& record : definitions_) {
    if (record.object_type().id() != id) continue;
    record.mutable_object_type()->set_head_bytes(bytes);
  }
}

ObjectRunBuilder::Node ObjectRunBuilder::Add(
    const std::string& type, uint64_t size_bytes,
    const std::optional<std::string>& text, std::optional<uint64_t> length) {
  const auto node = static_cast<Node>(nodes_.size());
  Described described;
  described.node.type = Type(type);
  described.node.address = kFirstAddress + (node - 1) * kAddressStep;
  described.node.size_bytes = size_bytes;
  described.node.length = length;
  described.text = text;
  nodes_.push_back(described);
  return node;
}

ObjectRunBuilder::Node ObjectRunBuilder::AddText(const std::string& text,
                                                 const std::string& type) {
  const Node node =
      Add(type, 49 + text.size(), text.substr(0, kMostText), text.size());
  if (text.size() > kMostText) {
    nodes_[node].node.text_hash = std::hash<std::string>()(text) | 1;
  }
  return node;
}

ObjectRunBuilder::Node ObjectRunBuilder::AddGroup(const std::string& name) {
  Type("<group>", /*synthetic=*/true);
  const Node node = Add("<group>", 0, name);
  nodes_[node].node.address = 0;
  Refer(kRoot, node, EDGE_ROOT, name);
  return node;
}

void ObjectRunBuilder::Refer(Node from, Node to, EdgeKind kind,
                             const std::string& name) {
  uint32_t id = 0;
  if (!name.empty()) {
    const auto [found, is_new] =
        names_.emplace(name, static_cast<uint32_t>(names_.size() + 1));
    id = found->second;
    if (is_new) {
      Record record;
      record.mutable_object_name()->set_id(id);
      record.mutable_object_name()->set_text(name);
      definitions_.push_back(record);
    }
  }
  nodes_[from].references.push_back({to, kind, id});
}

void ObjectRunBuilder::Put(Node dict, Node key, Node value) {
  Refer(dict, key, EDGE_KEY);
  Refer(dict, value, EDGE_VALUE);
}

std::string ObjectRunBuilder::Write() const {
  StringSink sink;
  const auto writer = std::move(*StreamWriter::Create(&sink, {}));
  Record record;
  *record.mutable_header() = header_;
  Must(writer->Append(record));
  *record.mutable_objects_begin() = begin_;
  Must(writer->Append(record));
  for (const Record& definition : definitions_) {
    Must(writer->Append(definition));
  }
  ObjectBatchEncoder encoder(
      [&](absl::string_view bytes) { return writer->AppendSerialized(bytes); });
  // In the order in which they are reached, as dumps number them.
  constexpr uint64_t kNoNumber = ~uint64_t{0};
  std::vector<uint64_t> numbers(nodes_.size(), kNoNumber);
  std::vector<Node> order = {kRoot};
  numbers[kRoot] = 0;
  for (size_t at = 0; at < order.size(); ++at) {
    const Described& described = nodes_[order[at]];
    ObjectNode node = described.node;
    if (described.text.has_value()) node.text = *described.text;
    Must(encoder.AddNode(node));
    for (const Reference& reference : described.references) {
      if (numbers[reference.to] == kNoNumber) {
        numbers[reference.to] = order.size();
        order.push_back(reference.to);
      }
      Must(encoder.AddReference(reference.kind, reference.name,
                                numbers[reference.to]));
    }
  }
  Must(encoder.Flush());
  *record.mutable_objects_end() = end_;
  Must(writer->Append(record));
  Must(writer->Flush());
  return sink.contents();
}

absl::Status BuildDescribedGraph(std::istream* in, ByteSink* out) {
  ObjectRunBuilder builder;
  builder.header().clear_pid();  // it is of no process
  std::string what, type, length, text;
  for (uint64_t first = 0, second = 0; *in >> what >> first >> second;) {
    if (what == "n") {
      *in >> type >> length;
      std::getline(in->ignore(), text);
      const bool has_text = text != "-";
      const auto node = builder.Add(
          type, second, has_text ? std::optional(text) : std::nullopt);
      builder.node(node).address = first;
      if (length != "-") builder.node(node).length = std::stoull(length);
    } else {
      int kind = 0;
      *in >> kind;
      builder.Refer(static_cast<uint32_t>(first), static_cast<uint32_t>(second),
                    static_cast<EdgeKind>(kind));
    }
  }
  return out->Append(builder.Write());
}

}  // namespace pymemrun
