// The memory of a process over time: its proportional share (PSS), if that is
// known.
#ifndef PYMEMRUN_READERS_ACROSS_RUNS_PROCESSES_MEMORY_CURVE_H_
#define PYMEMRUN_READERS_ACROSS_RUNS_PROCESSES_MEMORY_CURVE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pymemrun {

// The process had `bytes` from this time on.
struct MemoryStep {
  uint64_t time_us;
  uint64_t bytes;
};

// A reading of RSS and PSS; 0: unknown at this moment.
struct MemoryReading {
  uint64_t time_us;
  uint64_t rss_bytes, pss_bytes;
  uint64_t file_bytes = 0;  // of RSS: pages of files; read with PSS
};

// Collects readings, in any order. Memory is constant: if there are many, those
// that differ little from the one before are left out. Not thread safe.
class MemoryCurve {
 public:
  // With more readings, those that differ least are left out.
  static constexpr size_t kMaxReadings = size_t{1} << 16;

  void Add(const MemoryReading& reading);
  // Adds RSS of an event, unless it has hardly changed.
  void AddRss(uint64_t time_us, uint64_t rss_bytes);

  // PSS over time; between its readings it moves as RSS does, and without any
  // it is RSS. Before the first reading pages of files were shared as much as
  // at it. A forked process starts with pages shared with its parent, which
  // count for the parent until PSS is read. Changes of RSS that no event saw,
  // near a reading of PSS alone, are taken from PSS.
  std::vector<MemoryStep> Shares(bool forked) const;
  // RSS at its readings.
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

// The gain of a process that grows steadily: the minimum of the last fifth of
// its time minus that of the second. 0 if it does not rise by a sixth of the
// gain from each fifth to the next. The first fifth is start-up.
uint64_t SteadyGrowth(const std::vector<MemoryStep>& steps, uint64_t begin_us,
                      uint64_t end_us);
// The time in which that growth counts: without the first part.
uint64_t SteadySpanUs(uint64_t begin_us, uint64_t end_us);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ACROSS_RUNS_PROCESSES_MEMORY_CURVE_H_
