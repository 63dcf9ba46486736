#include "readers/objects/graph/object_text.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace pymemrun {
namespace {

// Quotes a text as Python does. Printing escapes what is not printable.
std::string Quoted(absl::string_view text, bool is_cut) {
  const bool doubles =
      absl::StrContains(text, '\'') && !absl::StrContains(text, '"');
  const char quote = doubles ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) {
    if (c == quote || c == '\\') out.push_back('\\');
    switch (c) {
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        out.push_back(c);
    }
  }
  out.push_back(quote);
  if (is_cut) out += "...";
  return out;
}

std::string QuotedBytes(absl::string_view text, bool is_cut) {
  std::string out = "b'";
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (c == '\'' || c == '\\') {
      out += {'\\', c};
    } else if (byte < 0x20 || byte >= 0x7F) {
      absl::StrAppendFormat(&out, "\\x%02x", byte);
    } else {
      out.push_back(c);
    }
  }
  return out + (is_cut ? "'..." : "'");
}

// In UTF-8 each byte except 10xxxxxx starts a code point.
uint64_t CodePoints(absl::string_view text) {
  uint64_t count = 0;
  for (const char c : text) count += (static_cast<uint8_t>(c) & 0xC0) != 0x80;
  return count;
}

// The target of a reference of this kind and name, or kNoNode.
NodeId TargetBy(const ObjectGraph& graph, NodeId node, EdgeKind kind,
                absl::string_view name = "") {
  for (uint32_t e = graph.first_edge(node); e < graph.first_edge(node + 1);
       ++e) {
    if (graph.kind(e) == kind && (name.empty() || graph.edge_name(e) == name)) {
      return graph.target(e);
    }
  }
  return kNoNode;
}

// The file name of a frame's code, without folders; empty if it is unknown.
std::string FileOfFrame(const ObjectGraph& graph, NodeId frame) {
  const NodeId code = TargetBy(graph, frame, EDGE_CODE);
  if (code == kNoNode) return "";
  const NodeId file = TargetBy(graph, code, EDGE_ATTRIBUTE, "co_filename");
  if (file == kNoNode) return "";
  const std::string path(graph.details(file).text.value_or(""));
  return path.substr(path.rfind('/') + 1);
}

bool IsOneOf(absl::string_view type, const char* one, const char* other) {
  return type == one || type == other;
}

}  // namespace

std::string AddressText(const ObjectGraph& graph, NodeId node) {
  if (graph.address(node) == 0) return "";
  return absl::StrFormat("0x%x", graph.address(node));
}

std::string KindText(const ObjectGraph& graph, NodeId node) {
  return graph.type_name(graph.type(node));
}

// The length is that of the whole value: a shorter text was cut. Python 2's
// "unicode" is from dumps of other tools.
std::string ValueText(const ObjectGraph& graph, NodeId node) {
  const NodeDetails details = graph.details(node);
  if (!details.text.has_value()) return "";
  const absl::string_view text = *details.text;
  const std::string& type = graph.type_name(graph.type(node));
  if (IsOneOf(type, "str", "unicode")) {
    return Quoted(text, details.length.value_or(0) > CodePoints(text));
  }
  if (IsOneOf(type, "bytes", "bytearray")) {
    return QuotedBytes(text, details.length.value_or(0) > text.size());
  }
  if (details.line != 0) {
    const std::string file = FileOfFrame(graph, node);
    return file.empty() ? absl::StrCat(text, ":", details.line)
                        : absl::StrCat(file, ":", details.line, " ", text);
  }
  return std::string(text);
}

std::string NodeText(const ObjectGraph& graph, NodeId node) {
  std::string out = KindText(graph, node);
  const std::string address = AddressText(graph, node);
  const std::string value = ValueText(graph, node);
  if (!address.empty()) absl::StrAppend(&out, " ", address);
  if (!value.empty()) absl::StrAppend(&out, " ", value);
  return out;
}

// The recorder lists an entry's key directly before its value.
NodeId KeyOf(const ObjectGraph& graph, uint32_t edge) {
  if (graph.kind(edge) != EDGE_VALUE || edge == 0) return kNoNode;
  if (graph.kind(edge - 1) != EDGE_KEY) return kNoNode;
  if (graph.SourceOf(edge - 1) != graph.SourceOf(edge)) return kNoNode;
  return graph.target(edge - 1);
}

namespace {

std::string KeyText(const ObjectGraph& graph, NodeId key) {
  if (KindText(graph, key) == "NoneType") return "None";
  const std::string value = ValueText(graph, key);
  return value.empty() ? NodeText(graph, key) : value;
}

}  // namespace

std::string EdgeText(const ObjectGraph& graph, uint32_t edge) {
  const absl::string_view name = graph.edge_name(edge);
  switch (graph.kind(edge)) {
    case EDGE_ATTRIBUTE:
      return absl::StrCat(".", name);
    case EDGE_KEY:
      return "key";
    case EDGE_VALUE: {
      // The key's type matters: 38 is not '38'.
      const NodeId key = KeyOf(graph, edge);
      if (key != kNoNode) return absl::StrCat("[", KeyText(graph, key), "]");
      if (name.empty()) return "value";
      return absl::StrCat("[", Quoted(name, false), "]");
    }
    // An item's index is the number of items before it: it is not stored.
    case EDGE_INDEX: {
      uint32_t index = 0;
      for (uint32_t e = graph.first_edge(graph.SourceOf(edge)); e < edge; ++e) {
        index += graph.kind(e) == EDGE_INDEX;
      }
      return absl::StrCat("[", index, "]");
    }
    case EDGE_TYPE:
      return ".__class__";
    case EDGE_DICT:
      return ".__dict__";
    case EDGE_CELL:
      return absl::StrCat("closure variable ", name);
    case EDGE_LOCAL:
      return absl::StrCat("local ", name);
    case EDGE_STACK:
      return "on the frame's stack";
    case EDGE_CODE:
      return ".__code__";
    case EDGE_GLOBALS:
      return ".__globals__";
    case EDGE_BASE:
      return "base class";
    case EDGE_ROOT:
      return name.empty() ? "root" : std::string(name);
    case EDGE_WEAK:
      return "weak reference";
    default:
      return name.empty() ? "refers to" : std::string(name);
  }
}

std::string EdgeKindName(EdgeKind kind) {
  if (!EdgeKind_IsValid(kind)) return "other";
  // EDGE_VALUE is "value".
  std::string name = EdgeKind_Name(kind).substr(5);
  // Lower case: the names have only letters.
  for (char& c : name) c = static_cast<char>(c | 0x20);
  return name;
}

NodeId NodeByText(const ObjectGraph& graph, absl::string_view text) {
  uint64_t number;
  if (absl::StartsWith(text, "#")) {
    if (!absl::SimpleAtoi(text.substr(1), &number)) return kNoNode;
    return number < graph.nodes() ? static_cast<NodeId>(number) : kNoNode;
  }
  if (absl::StartsWith(text, "0x") || absl::StartsWith(text, "0X")) {
    if (!absl::SimpleHexAtoi(text, &number)) return kNoNode;
  } else if (!absl::SimpleAtoi(text, &number)) {
    return kNoNode;
  }
  return graph.Find(number);
}

}  // namespace pymemrun
