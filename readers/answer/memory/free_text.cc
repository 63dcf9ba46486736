#include "readers/answer/memory/free_text.h"

#include <algorithm>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "text/fitted_text.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Names the lines that keep the parts shown, each once.
std::string KeptBy(const std::vector<Place>& in_malloc,
                   const std::vector<Place>& in_arenas,
                   const NameOfPlace& name_of) {
  std::vector<std::string> lines;
  for (const std::vector<Place>* const places : {&in_malloc, &in_arenas}) {
    for (const Place& place : *places) {
      std::string name = name_of(place);
      if (std::find(lines.begin(), lines.end(), name) == lines.end()) {
        lines.push_back(std::move(name));
      }
    }
  }
  if (lines.empty()) return "";
  return absl::StrCat(" Live blocks of ", absl::StrJoin(lines, " and "),
                      " keep these areas.");
}

// Free memory is worth a sentence from this share of RSS on.
constexpr double kMuchFree = 0.25;

}  // namespace

bool WasPaused(const Answer& answer) {
  return answer.facts.has_pauses || answer.facts.header.filters().paused();
}

const MemorySplit* MuchFreeAt(const Answer& answer) {
  // Free memory is what no block explains. So all blocks must be known, C
  // code's too.
  if (!answer.has_pages || !answer.facts.HasHeap() || WasPaused(answer) ||
      !answer.facts.header.heap_native()) {
    return nullptr;
  }
  for (const AnswerMoment* moment : {&answer.end, &answer.peak}) {
    if (moment->split.free_bytes > kMuchFree * moment->split.rss_bytes) {
      return &moment->split;
    }
  }
  return nullptr;
}

std::string FreeMemoryText(const Answer& answer, const NameOfPlace& name_of) {
  const MemorySplit* const split = MuchFreeAt(answer);
  if (split == nullptr) return "";
  const FreeMemory& free = split->free;
  constexpr double kLeastShare = 0.1;
  const double least = kLeastShare * split->free_bytes;
  std::vector<std::string> parts;
  // A part below a tenth is not named, and what keeps it neither.
  if (free.malloc_bytes > least) {
    parts.push_back(
        absl::StrCat(ShortBytes(free.malloc_bytes),
                     " in malloc's heap (ctypes.CDLL(None).malloc_trim(0) "
                     "releases empty pages)"));
  }
  if (free.other_bytes > least) {
    parts.push_back(absl::StrCat(
        ShortBytes(free.other_bytes),
        free.in_python_arenas
            ? " in arenas of Python's small objects (an empty arena is "
              "released)"
            : " in malloc's arenas of threads (MALLOC_ARENA_MAX=1: one heap)"));
  }
  const std::vector<Place> none;
  return absl::StrCat(
      "Free ", split == &answer.end.split ? "at the end: " : "at the peak: ",
      absl::StrJoin(parts, "; "), ".",
      KeptBy(free.malloc_bytes > least ? free.malloc_pins : none,
             free.other_bytes > least ? free.other_pins : none, name_of));
}

// Names the library with most bytes in pools.
std::string PoolsText(const Answer& answer) {
  const bool at_end = answer.end.split.pool_bytes > 0;
  const MemorySplit& split = at_end ? answer.end.split : answer.peak.split;
  constexpr double kLeastShare = 0.1;
  if (split.pool_bytes <= kLeastShare * split.rss_bytes) return "";
  std::map<std::string, double> bytes;
  for (const PlaceHolding& holding : split.places) {
    if (holding.pool_bytes > 0) bytes[holding.kept_by] += holding.pool_bytes;
  }
  // Not empty: pool bytes are the sum of those of places.
  const auto most = std::max_element(
      bytes.begin(), bytes.end(),
      [](const auto& a, const auto& b) { return a.second < b.second; });
  const std::string library = TerminalText(most->first);
  return absl::StrCat("In pools ", at_end ? "at the end: " : "at the peak: ",
                      ShortBytes(most->second), " kept by ", library,
                      "; only that library knows how much of it is in use",
                      library == "libarrow"
                          ? " (pyarrow.default_memory_pool().release_unused() "
                            "releases the rest)"
                          : "",
                      ".");
}

}  // namespace pymemrun
