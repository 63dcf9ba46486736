#include "readers/objects_text/summary_text.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

const char* ReasonText(ObjectsReason reason) {
  switch (reason) {
    case OBJECTS_AT_EXIT:
      return "when the program ended";
    case OBJECTS_AT_PEAK:
      return "at a new peak of RSS";
    case OBJECTS_EVERY:
      return "at a set interval";
    case OBJECTS_RSS_ABOVE:
      return "when RSS passed a limit";
    case OBJECTS_SIGNAL:
      return "on a signal";
    case OBJECTS_OUTSIDE:
      return "when another process asked";
    default:
      return "when the program asked";
  }
}

}  // namespace

std::string SummaryText(const ObjectGraph& graph) {
  std::vector<bool> used(graph.types().size());
  uint64_t types = 0;
  for (NodeId node = 0; node < graph.nodes(); ++node) {
    if (used[graph.type(node)] || graph.is_synthetic(node)) continue;
    used[graph.type(node)] = true;
    ++types;
  }
  std::string text = absl::StrCat(
      Counted(graph.objects(), "object"), " of ", Counted(types, "type"),
      graph.objects() == 1 ? " takes " : " take ", HumanBytes(static_cast<double>(graph.total_bytes())), ".");
  const DumpFacts& facts = graph.facts();
  if (facts.header.pid() == 0) return text;
  absl::StrAppend(&text, " They are those of process ", facts.header.pid(),
                  " after ", HumanSeconds(facts.begin.time_us()), ", ",
                  ReasonText(facts.begin.reason()), ".");
  if (facts.begin.rss_bytes() != 0) {
    absl::StrAppend(&text, " RSS was ",
                    HumanBytes(static_cast<double>(facts.begin.rss_bytes())),
                    ".");
  }
  if (facts.begin.pause_us() != 0) {
    absl::StrAppend(&text, " The program stood still for ",
                    HumanSeconds(facts.begin.pause_us()), ".");
  }
  return text;
}

}  // namespace pymemrun
