#include "readers/objects/chain_text.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "readers/objects/object_text.h"

namespace pymemrun {
namespace {

// The text of a key as an attribute, where it can be one: "name".
bool IsIdentifier(absl::string_view text) {
  if (text.empty() || absl::ascii_isdigit(text[0])) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isalnum(c) || c == '_'; });
}

// What the value of an entry of a __dict__ is an attribute by; empty: none.
std::string AttributeName(const ObjectGraph& graph, uint32_t edge) {
  const NodeId key = KeyOf(graph, edge);
  if (key == kNoNode) return "";
  const NodeDetails details = graph.details(key);
  if (!details.text.has_value() || !IsIdentifier(*details.text)) return "";
  return std::string(*details.text);
}

// A step of a chain; empty: it goes without saying.
std::string StepText(const ObjectGraph& graph, const Chain& chain, size_t i) {
  const uint32_t edge = chain[i];
  const std::string text = EdgeText(graph, edge);
  const bool by_modules = i > 0 && graph.edge_name(chain[0]) == "modules";
  if (i == 0 && text == "modules") return "sys.modules";
  if (i == 1 && by_modules) return "";  // the dictionary itself
  const NodeId target = graph.target(edge);
  if (graph.is_synthetic(target) || KindText(graph, target) == "frame") {
    const std::string value = ValueText(graph, target);
    return value.empty() || value == text ? text
                                          : absl::StrCat(text, " ", value);
  }
  const auto is_dict_of_object = [&](uint32_t of) {
    return graph.kind(of) == EDGE_DICT &&
           !graph.is_synthetic(graph.SourceOf(of));
  };
  if (i + 1 < chain.size() && is_dict_of_object(edge) &&
      !AttributeName(graph, chain[i + 1]).empty()) {
    return "";  // the next step names the attribute
  }
  if (i > 0 && is_dict_of_object(chain[i - 1])) {
    const std::string name = AttributeName(graph, edge);
    if (!name.empty()) return absl::StrCat(".", name);
  }
  return text;
}

}  // namespace

std::string ChainText(const ObjectGraph& graph, const Chain& chain) {
  // Of long chains, as through linked lists, the begin and the end.
  constexpr size_t kFirst = 12, kLast = 8;
  std::string text;
  for (size_t i = 0; i < chain.size(); ++i) {
    if (i == kFirst && chain.size() > kFirst + kLast + 1) {
      i = chain.size() - kLast;
      absl::StrAppend(&text, " > (", i - kFirst, " more) > ");
      absl::StrAppend(&text, StepText(graph, chain, i));
      continue;
    }
    const std::string step = StepText(graph, chain, i);
    const bool goes_on =
        absl::StartsWith(step, ".") || absl::StartsWith(step, "[");
    if (!text.empty() && !step.empty() && !goes_on) text += " > ";
    text += step;
  }
  return text;
}

}  // namespace pymemrun
