// How much memory a process had, over time: its share of what it shares with
// others, where that is known.
#ifndef PYMEMRUN_READERS_ACROSS_RUNS_PROCESSES_MEMORY_CURVE_H_
#define PYMEMRUN_READERS_ACROSS_RUNS_PROCESSES_MEMORY_CURVE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pymemrun {

// From this time on it had so much.
struct MemoryStep {
  uint64_t time_us;
  uint64_t bytes;
};

// What RSS and the share were found to be; 0: not known of this moment.
struct MemoryReading {
  uint64_t time_us;
  uint64_t rss_bytes, pss_bytes;
  uint64_t file_bytes = 0;  // of RSS, with a share: pages of files
};

// Gathers readings, in any order. Constant memory: of many, those that differ
// little from the one before are left out. Not thread safe.
class MemoryCurve {
 public:
  static constexpr size_t kMaxReadings = size_t{1} << 16;

  void Add(const MemoryReading& reading);
  // Readings of events, of RSS alone, as far as it has moved.
  void AddRss(uint64_t time_us, uint64_t rss_bytes);

  // Its share of memory. Between readings of it the share moves as RSS does.
  // Where none was read that is RSS itself. Before the first reading pages of
  // files were shared as they are there. A process that was forked has at first
  // what it shares with its parent: that is the parent's until its share is
  // read. What RSS did unseen around a reading of the share alone is taken
  // to be what the share says that it did.
  std::vector<MemoryStep> Shares(bool forked) const;
  // RSS where it was read.
  std::vector<MemoryStep> Rss() const;
  uint64_t HighestPss() const { return highest_pss_; }

 private:
  void Thin();
  std::vector<MemoryReading> InOrder() const;

  std::vector<MemoryReading> readings_;
  uint64_t least_step_bytes_ = 4096;
  uint64_t last_rss_bytes_ = 0;
  uint64_t highest_pss_ = 0;
};

// What a process that grows all the time has gained: the least of the last
// fifth of its time less the least of the second. 0 where from one fifth to the
// next it did not rise by a tenth of that. The first fifth is its start.
uint64_t SteadyGrowth(const std::vector<MemoryStep>& steps, uint64_t begin_us,
                      uint64_t end_us);
// For how long that growth counts: the first part of the time is left out.
uint64_t SteadySpanUs(uint64_t begin_us, uint64_t end_us);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ACROSS_RUNS_PROCESSES_MEMORY_CURVE_H_
