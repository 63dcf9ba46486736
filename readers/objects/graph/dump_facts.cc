#include "readers/objects/graph/dump_facts.h"

#include "format/stream/varint.h"

namespace pymemrun {
namespace {

// The first byte of a node's details says which of them follow.
enum : uint8_t { kHasLength = 1, kHasText = 2, kHasHash = 4, kHasLine = 8 };

uint64_t Take(absl::string_view* bytes) {
  uint64_t value = 0;
  TakeVarint(bytes, &value);
  return value;
}

}  // namespace

void AppendNodeDetails(const NodeDetails& details, std::string* bytes) {
  bytes->push_back(static_cast<char>(
      (details.length.has_value() ? kHasLength : 0) |
      (details.text.has_value() ? kHasText : 0) |
      (details.hash != 0 ? kHasHash : 0) | (details.line != 0 ? kHasLine : 0)));
  if (details.length.has_value()) AppendVarint(*details.length, bytes);
  if (details.text.has_value()) {
    AppendVarint(details.text->size(), bytes);
    bytes->append(details.text->data(), details.text->size());
  }
  if (details.hash != 0) AppendVarint(details.hash, bytes);
  if (details.line != 0) AppendVarint(details.line, bytes);
}

void AppendNodeDetails(const ObjectNode& node, std::string* bytes) {
  NodeDetails details;
  details.length = node.length;
  if (node.has_text()) details.text = node.text;
  details.hash = node.text_hash;
  details.line = node.line;
  AppendNodeDetails(details, bytes);
}

// Most nodes have no details, and take one byte.
NodeDetails TakeNodeDetails(absl::string_view* bytes) {
  NodeDetails details;
  const auto has = static_cast<uint8_t>(bytes->front());
  bytes->remove_prefix(1);
  if (has & kHasLength) details.length = Take(bytes);
  if (has & kHasText) {
    const uint64_t size = Take(bytes);
    details.text = bytes->substr(0, size);
    bytes->remove_prefix(size);
  }
  if (has & kHasHash) details.hash = Take(bytes);
  if (has & kHasLine) details.line = static_cast<uint32_t>(Take(bytes));
  return details;
}

bool SkipNodeDetails(absl::string_view* bytes) {
  if (bytes->empty()) return false;
  const auto has = static_cast<uint8_t>(bytes->front());
  bytes->remove_prefix(1);
  uint64_t value = 0;
  if ((has & kHasLength) && !TakeVarint(bytes, &value)) return false;
  if (has & kHasText) {
    if (!TakeVarint(bytes, &value) || value > bytes->size()) return false;
    bytes->remove_prefix(value);
  }
  if ((has & kHasHash) && !TakeVarint(bytes, &value)) return false;
  return !(has & kHasLine) || TakeVarint(bytes, &value);
}

}  // namespace pymemrun
