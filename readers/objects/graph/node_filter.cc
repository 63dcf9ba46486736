#include "readers/objects/graph/node_filter.h"

#include <fnmatch.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "text/size_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Shell patterns, see fnmatch(3). A backslash stands for itself.
bool MatchesPattern(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), FNM_NOESCAPE) == 0;
}

// Matches a line by file and number, with or without the folder.
bool LineMatches(const std::string& pattern, absl::string_view label) {
  // In "/app/cache.py:4 fill" folders may have blanks.
  const size_t colon = label.rfind(':');
  const size_t blank = label.find(' ', colon == label.npos ? 0 : colon);
  const std::string line(label.substr(0, blank));
  const size_t slash = line.rfind('/');
  return MatchesPattern(pattern, line) ||
         (slash != line.npos &&
          MatchesPattern(pattern, line.substr(slash + 1)));
}

}  // namespace

// Names of built-in types have no module, but a pattern may state it.
bool TypeMatches(const ObjectGraph& graph, uint32_t type,
                 const std::string& pattern) {
  const ObjectTypeDef& known = graph.types()[type];
  absl::string_view in_builtins = pattern;
  if (absl::ConsumePrefix(&in_builtins, "builtins.") &&
      known.module() == "builtins" &&
      MatchesPattern(std::string(in_builtins), known.name())) {
    return true;
  }
  return MatchesPattern(pattern, graph.type_name(type)) ||
         MatchesPattern(pattern, known.name());
}

bool NodeFilter::TakeWords(absl::string_view* rest, Condition* made) {
  static constexpr std::pair<absl::string_view, Field> kFields[] = {
      {"type", Field::kType},   {"module", Field::kModule},
      {"value", Field::kValue}, {"line", Field::kLine},
      {"size", Field::kSize},   {"length", Field::kLength}};
  // Longer operators first.
  static constexpr std::pair<absl::string_view, Operator> kOperators[] = {
      {"!=", Operator::kIsNot},  {">=", Operator::kAtLeast},
      {"<=", Operator::kAtMost}, {"=", Operator::kIs},
      {">", Operator::kAbove},   {"<", Operator::kBelow}};
  // No field's name is the beginning of another one.
  for (const auto& [field_word, field] : kFields) {
    if (!absl::ConsumePrefix(rest, field_word)) continue;
    for (const auto& [word, op] : kOperators) {
      if (!absl::ConsumePrefix(rest, word)) continue;
      made->field = field;
      made->op = op;
      return true;
    }
    return false;
  }
  return false;
}

// Text is compared with a pattern, a number by its size: each field takes only
// the operators that make sense.
absl::Status NodeFilter::Add(absl::string_view condition) {
  const auto wrong = [condition](absl::string_view expected) {
    return absl::InvalidArgumentError(absl::StrCat(
        "expected ", expected, ", found '", TerminalText(condition), "'"));
  };
  absl::string_view rest = condition;
  Condition made;
  if (!TakeWords(&rest, &made)) {
    return wrong(
        "such as type=dict, module=app*, value=x*, line=app.py:*, size>=1M "
        "or length>9");
  }
  made.pattern = std::string(rest);
  if (made.field == Field::kSize || made.field == Field::kLength) {
    const auto number = ParseSize({rest.data(), rest.size()});
    if (!number.has_value()) return wrong("a size after it");
    made.number = *number;
  } else if (made.op != Operator::kIs && made.op != Operator::kIsNot) {
    return wrong("= or != with text");
  }
  conditions_.push_back(made);
  return absl::OkStatus();
}

bool NodeFilter::has_line() const {
  return std::any_of(
      conditions_.begin(), conditions_.end(),
      [](const Condition& each) { return each.field == Field::kLine; });
}

bool NodeFilter::Matches(const ObjectGraph& graph, NodeId node) const {
  if (graph.is_synthetic(node)) return false;
  for (const Condition& condition : conditions_) {
    if (!Meets(condition, graph, node)) return false;
  }
  return true;
}

// What is unknown of an object meets no condition, not even "!=".
bool NodeFilter::Meets(const Condition& condition, const ObjectGraph& graph,
                       NodeId node) {
  const bool is = condition.op == Operator::kIs;
  uint64_t number = 0;
  switch (condition.field) {
    case Field::kType:
      return is == TypeMatches(graph, graph.type(node), condition.pattern);
    case Field::kModule:
      return is == MatchesPattern(condition.pattern,
                                  graph.types()[graph.type(node)].module());
    case Field::kValue: {
      const NodeDetails details = graph.details(node);
      return details.text.has_value() &&
             is ==
                 MatchesPattern(condition.pattern, std::string(*details.text));
    }
    case Field::kLine: {
      const NodeAllocations* const known = graph.allocations();
      const uint32_t line = known == nullptr ? 0 : known->SureLineOf(node);
      return line != 0 &&
             is == LineMatches(condition.pattern, known->LineText(line));
    }
    case Field::kSize:
      number = graph.size_bytes(node);
      break;
    case Field::kLength: {
      const NodeDetails details = graph.details(node);
      if (!details.length.has_value()) return false;
      number = *details.length;
      break;
    }
  }
  switch (condition.op) {
    case Operator::kIs:
      return number == condition.number;
    case Operator::kIsNot:
      return number != condition.number;
    case Operator::kAbove:
      return number > condition.number;
    case Operator::kAtLeast:
      return number >= condition.number;
    case Operator::kBelow:
      return number < condition.number;
    default:
      return number <= condition.number;
  }
}

}  // namespace pymemrun
