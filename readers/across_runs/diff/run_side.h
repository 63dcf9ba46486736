// The figures of one of two runs that are compared.
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
#include "readers/places/table_view.h"
#include "readers/replay/moments/run_moments.h"
#include "readers/replay/summary/run_facts.h"
#include "readers/replay/threads/thread_replay.h"
#include "readers/run/name_pool.h"
#include "readers/run/reread_file.h"

namespace pymemrun {

// A figure of a whole run.
enum class Total : uint8_t {
  kPeak,     // the highest RSS
  kHeap,     // live bytes at their peak
  kHeapEnd,  // live bytes when the program's own code ended
  kGrowth,   // RSS at the end minus RSS when tracing started
  kTime,     // wall time, in microseconds
  kCpu,      // CPU time of the process, likewise
};
inline constexpr size_t kTotals = 6;
// "peak", "heap", "heap-end", "growth", "time", "cpu".
absl::string_view TotalName(Total total);
inline bool IsTime(Total total) { return total >= Total::kTime; }

// A figure with its variance; 0 variance: exact.
struct Figure {
  bool is_known = false;
  double value = 0, variance = 0;
};

// The memory of places, at a moment.
enum class Holding : uint8_t {
  kHeap,      // live bytes at their peak, or at a given moment
  kHeapEnd,   // live bytes when the program's own code ended
  kResident,  // resident bytes at the peak of RSS, or at a given moment
  kGrowth,    // growth of RSS at events; for threads, what they caused
};
inline constexpr size_t kHoldings = 4;
// "heap", "heap-end", "resident", "growth".
absl::string_view HoldingName(Holding holding);

// Bytes that a place holds at a moment, with their variance.
struct HeldBytes {
  Place place;  // names are kept by the RunSide
  double bytes = 0, variance = 0;
};
// A node of a call tree; callers precede what they call.
struct HeldNode {
  uint32_t parent = 0;  // 0: it is an outermost frame
  Place place;
  double self_bytes = 0, self_variance = 0;
};

// What RunSide::Read() reads besides the totals.
struct RunSideOptions {
  GroupBy by = GroupBy::kLine;  // kind of places; with `stacks` of frames
  bool stacks = false;
  std::optional<Moment> at;  // the moment of places' bytes; none: see Holding
};

// One run, read for a comparison. Not thread safe.
class RunSide {
 public:
  // Returns null if nothing could be read, or there is no such moment, and has
  // printed why; *code is then at least the exit status.
  static std::unique_ptr<RunSide> Read(RereadFile* file,
                                       const RunSideOptions& options,
                                       const Console& console, int* code);

  const RunFacts& facts() const { return facts_; }
  const Figure& total(Total which) const {
    return totals_[static_cast<size_t>(which)];
  }
  // Whether the run recorded this.
  bool knows(Holding which) const { return known_[static_cast<size_t>(which)]; }
  const std::vector<HeldBytes>& places(Holding which) const {
    return places_[static_cast<size_t>(which)];
  }
  // Whether it has any place that the view lists.
  bool HasAny(const TableView& view) const;
  // The moment that was given, if any.
  const std::optional<FoundMoment>& moment() const { return moment_; }
  // Live bytes by call stack, at their peak or the given moment. Node 0 is the
  // root, above the outermost frames.
  const std::vector<HeldNode>& stacks() const { return stacks_; }

 private:
  explicit RunSide(const RunSideOptions& options)
      : options_(options), names_(64 << 20) {}
  bool ReadMoment(RereadFile* file, const Console& console, int* code);
  // `at`: the moment that was given, if any.
  bool ReadHeap(RereadFile* file, const std::optional<HeapMoment>& at);
  void KeepHeap(Holding holding, const HeapMoments& replay);
  // `tree`: see HeapTreeOptions::of_variances.
  void KeepStacks(const PlaceTree& tree);
  bool ReadResident(RereadFile* file, const RunMoments& moments,
                    const FoundMoment& at);
  void AddTotals();
  // `caused`: what threads changed; null: use what their events saw.
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
