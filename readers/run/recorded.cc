#include "readers/run/recorded.h"

#include <iterator>

#include "absl/strings/str_cat.h"

namespace pymemrun {
namespace {

// By Recorded.
constexpr struct {
  const char* what;  // what a report needs, or a run lacks
  const char* how;   // the option of pymemrun
} kTexts[] = {
    {"calls", "--trace calls"},
    {"page events", "--trace pages"},
    {"page faults", "--trace pages --page-source faults"},
    {"calls or page faults", "--trace calls,pages"},
    {"page faults or heap events", "--trace pages, or --heap sampled"},
    {"heap events", "--heap sampled or all"},
    {"record of every allocation", "--heap all"},
    {"allocations of C code", "--native"},
    {"GIL events", "--trace gil"},
    {"states of threads", "--trace states"},
    {"steps of tasks", "--trace tasks"},
    {"counters", "--trace counters"},
};
static_assert(std::size(kTexts) ==
              static_cast<size_t>(Recorded::kCounters) + 1);

const auto& TextsOf(Recorded what) { return kTexts[static_cast<size_t>(what)]; }

}  // namespace

std::string NeedText(Recorded what) {
  return absl::StrCat(what == Recorded::kEachBlock ? "a " : "",
                      TextsOf(what).what, " (", TextsOf(what).how, ")");
}

std::string LackText(Recorded what) {
  return absl::StrCat(
      "has no ", TextsOf(what).what, ": record ",
      what == Recorded::kEachBlock ? "it" : "them", " with pymemrun ",
      TextsOf(what).how,
      what == Recorded::kCounters
          ? ", or with calls,pages,counters to keep the usual records"
          : "");
}

std::string UnreadText(Recorded what) {
  return absl::StrCat("no ", TextsOf(what).what,
                      " in the part that could be read");
}

void Recordings::Add(const Header& header) {
  if (!header.calls_off()) Add(Recorded::kCalls);
  if (header.page_period() != 0) Add(Recorded::kPages);
  if (header.heap() != HEAP_OFF) Add(Recorded::kHeap);
  if (header.heap_native()) Add(Recorded::kBlocksOfC);
  sampled_ |= header.heap() == HEAP_SAMPLED;
  scanned_ |= header.page_scan();
}

// Some are combinations of others, and have no bit of their own.
bool Recordings::Has(Recorded what) const {
  switch (what) {
    case Recorded::kFaults:
      return Has(Recorded::kPages) && !scanned_;
    case Recorded::kGrowth:
      return Has(Recorded::kCalls) || Has(Recorded::kFaults);
    case Recorded::kThreadMemory:
      return Has(Recorded::kFaults) || Has(Recorded::kHeap);
    case Recorded::kEachBlock:
      return Has(Recorded::kHeap) && !sampled_;
    default:
      return (bits_ & Bit(what)) != 0;
  }
}

}  // namespace pymemrun
