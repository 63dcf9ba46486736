// What a run may have recorded, and the messages for what it lacks.
#ifndef PYMEMRUN_READERS_RUN_RECORDED_H_
#define PYMEMRUN_READERS_RUN_RECORDED_H_

#include <cstdint>
#include <string>

#include "format/records/record_visitor.h"

namespace pymemrun {

// In the order of the table in recorded.cc.
enum class Recorded : uint8_t {
  kCalls,
  kPages,         // by faults or by scans
  kFaults,        // with the toucher of each page
  kGrowth,        // of RSS: calls or page faults
  kThreadMemory,  // page faults or heap events
  kHeap,
  kEachBlock,  // every block, not a sample
  kBlocksOfC,
  kGil,
  kStates,
  kTasks,
  kCounters,
};

// "GIL events (--trace gil)": what a report needs, and the option to record it.
std::string NeedText(Recorded what);
// "has no GIL events: record them with pymemrun --trace gil". Printed after the
// run's name.
std::string LackText(Recorded what);
// The same for a damaged file: "no GIL events in the part that could be read".
std::string UnreadText(Recorded what);

// What a run recorded, from its records. Not thread safe.
class Recordings {
 public:
  void Add(const Header& header);
  void Add(Recorded what) { bits_ |= Bit(what); }
  void AddHeapRates() { sampled_ = true; }
  void AddFooter(const Footer& footer) {
    if (footer.events() > 0) Add(Recorded::kCalls);
  }
  bool Has(Recorded what) const;

 private:
  static constexpr uint32_t Bit(Recorded what) {
    return uint32_t{1} << static_cast<unsigned>(what);
  }

  uint32_t bits_ = 0;
  bool sampled_ = false, scanned_ = false;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RUN_RECORDED_H_
