// What is compared of one of two runs.
#ifndef PYMEMRUN_READERS_ACROSS_RUNS_DIFF_RUN_SIDE_H_
#define PYMEMRUN_READERS_ACROSS_RUNS_DIFF_RUN_SIDE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "readers/places/place_tree.h"
#include "readers/replay/moments/run_moments.h"
#include "readers/replay/summary/run_facts.h"
#include "readers/replay/threads/thread_replay.h"
#include "readers/run/name_pool.h"
#include "readers/run/reread_file.h"

namespace pymemrun {

// One figure of a whole run.
enum class Total : uint8_t {
  kPeak,     // the highest RSS
  kHeap,     // live bytes at their peak
  kHeapEnd,  // live bytes when the program's own code had ended
  kGrowth,   // RSS at the end minus RSS when tracing began
  kTime,     // wall time, in microseconds
  kCpu,      // the process's CPU time, likewise
};
inline constexpr size_t kTotals = 6;
// "peak", "heap", "heap-end", "growth", "time", "cpu".
absl::string_view TotalName(Total total);
inline bool IsTime(Total total) { return total >= Total::kTime; }

struct Figure {
  bool is_known = false;
  double value = 0, variance = 0;
};

// What places hold, by moment.
enum class Holding : uint8_t {
  kHeap,      // live bytes at their peak, or at a given moment
  kHeapEnd,   // live bytes when the program's own code had ended
  kResident,  // of RSS at its peak, or at a given moment
  kGrowth,    // growth of RSS at events; of threads what they caused
};
inline constexpr size_t kHoldings = 4;
// "heap", "heap-end", "resident", "growth".
absl::string_view HoldingName(Holding holding);

struct HeldBytes {
  Place place;  // its names are kept by the run's side
  double bytes = 0, variance = 0;
};
// A node of a call tree; callers come before what they call.
struct HeldNode {
  uint32_t parent = 0;  // 0: it is an outermost one
  Place place;
  double self_bytes = 0, self_variance = 0;
};

struct RunSideOptions {
  GroupBy by = GroupBy::kLine;  // what places are; of `stacks` the frames
  bool stacks = false;
  std::optional<Moment> at;  // of what places hold; nothing: see Holding
};

// Not thread safe.
class RunSide {
 public:
  // Null: nothing could be read, or there is no such moment, which has been
  // said; *code is at least what the program is to exit with.
  static std::unique_ptr<RunSide> Read(RereadFile* file,
                                       const RunSideOptions& options,
                                       const Console& console, int* code);

  const RunFacts& facts() const { return facts_; }
  const Figure& total(Total which) const {
    return totals_[static_cast<size_t>(which)];
  }
  // Whether the run recorded it.
  bool knows(Holding which) const { return known_[static_cast<size_t>(which)]; }
  const std::vector<HeldBytes>& places(Holding which) const {
    return places_[static_cast<size_t>(which)];
  }
  // The given moment; nothing: none was.
  const std::optional<FoundMoment>& moment() const { return moment_; }
  // Live bytes by call stack, at their peak or the given moment; node 0 is
  // above the outermost.
  const std::vector<HeldNode>& stacks() const { return stacks_; }

 private:
  explicit RunSide(const RunSideOptions& options)
      : options_(options), names_(64 << 20) {}
  bool ReadMoment(RereadFile* file, const Console& console, int* code);
  // `at`: nothing where no moment was given.
  bool ReadHeap(RereadFile* file, const std::optional<HeapMoment>& at);
  void KeepHeap(Holding holding, const HeapMoments& replay);
  // `tree`: see HeapTreeOptions::of_variances.
  void KeepStacks(const PlaceTree& tree);
  bool ReadResident(RereadFile* file, const RunMoments& moments,
                    const FoundMoment& at);
  void AddTotals();
  // `caused`: what threads did; null: their events tell what they saw.
  void AddGrowth(const ThreadReplay* caused);
  void Set(Total which, double value, double variance = 0);
  void Add(Holding which, const Place& place, double bytes, double variance);

  const RunSideOptions options_;
  std::optional<FoundMoment> moment_;
  RunFacts facts_;
  NamePool names_;
  std::array<Figure, kTotals> totals_;
  std::array<bool, kHoldings> known_ = {};
  std::array<std::vector<HeldBytes>, kHoldings> places_;
  std::vector<HeldNode> stacks_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ACROSS_RUNS_DIFF_RUN_SIDE_H_
