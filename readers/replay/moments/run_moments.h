// The times of a run's moments, on the run's clock.
#ifndef PYMEMRUN_READERS_REPLAY_MOMENTS_RUN_MOMENTS_H_
#define PYMEMRUN_READERS_REPLAY_MOMENTS_RUN_MOMENTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "readers/replay/heap/heap_replay.h"
#include "readers/replay/moments/high_readings.h"
#include "readers/replay/moments/moment.h"
#include "readers/replay/resident/find_peak.h"
#include "readers/replay/resident/resident_replay.h"

namespace pymemrun {

// A moment's time and its name.
struct FoundMoment {
  uint64_t time_us = 0;
  std::string name = {};  // "the peak of RSS"; empty: the time is its name
  bool is_last = false;   // everything in the file was before it

  // The time up to which a ResidentReplay has to read.
  uint64_t UntilUs() const { return is_last ? ReplayVisitor::kEnd : time_us; }
  // The same moment for a HeapMoments.
  HeapMoment OfBlocks() const {
    return {is_last ? HeapMoment::kEnd : HeapMoment::kTime, time_us};
  }

  // "the peak of RSS, 7.270 s"
  std::string Text() const;
};

// Finds the moments of a run. A run has one peak: the highest RSS. Page faults
// show when it was. Without them RSS was read at events, samples and scans of
// pages, and VmHWM shows between which of them it was higher. Among moments
// with equal RSS, as far as it is known, the peak is the one with the most live
// bytes, and not one of finalization. Not thread safe.
class RunMoments final : public PeakFinder {
 public:
  explicit RunMoments(Hindsight hindsight = {}, bool reads_heap = false)
      : PeakFinder(std::move(hindsight), reads_heap) {}
  // Returns null if nothing could be read.
  static std::unique_ptr<RunMoments> Of(const ReadRun& read);

  bool OnRows(const Row* rows, size_t count) override;
  void OnHeapBatch(const HeapBatchFacts& facts) override;
  void OnHeader(const Header& header) override;
  void OnProcess(const ProcessSample& sample) override;
  void OnPeak(const Peak& peak) override;
  void OnResidency(const ResidencyView& seen) override;
  void OnFooter(const Footer& footer) override;
  // Includes the peak, so that every later reading has the same RSS at it.
  Hindsight hindsight() const override;

  // Fails if the run has no such moment; the message lists those it has. `read`
  // reads the same file again if needed.
  absl::StatusOr<FoundMoment> Find(const Moment& moment,
                                   const ReadRun& read) const;
  // The moment of Moment::kPeak. REQUIRES: made by Of().
  const FoundMoment& RssPeak() const { return peak_; }
  // The highest known RSS; includes VmHWM.
  uint64_t PeakBytes() const;
  // The time of the run's last moment.
  uint64_t EndUs() const;
  // Until when it is known what was resident: the end. If the process left no
  // end, and RSS was only sampled, it is the last reading of RSS.
  uint64_t KnownUntilUs() const;

 private:
  void AddReading(uint64_t time_us, uint64_t rss_bytes, uint64_t hwm_bytes);
  std::vector<RssStretch> BeforeFinalization(
      const std::vector<RssStretch>& stretches) const;
  void Choose(const ReadRun& read);
  void FindPeak(const ReadRun& read);
  FoundMoment FindEnd(const ReadRun& read) const;

  struct Reading {
    uint64_t time_us = 0, bytes = 0;
  };
  HighReadings readings_;
  Reading highest_, scan_;  // highest of all readings; highest of scans
  uint64_t hwm_bytes_ = 0, hwm_us_ = 0;  // the latest VmHWM and its time
  uint64_t last_event_us_ = 0, last_reading_us_ = 0;
  FoundMoment peak_;
  bool has_heap_ = false, has_faults_ = false;
  Footer footer_;
};

// Adds `beside` to the first reading that takes heap events, unless *is_read is
// set, and sets it. All must outlive the result.
ReadRun ReadingBeside(const ReadRun& read, ReplayVisitor* beside,
                      bool* is_read);

// The moment in the form that HeapMoments takes. Reads no more than needed.
absl::StatusOr<HeapMoment> FindHeapMoment(const Moment& moment,
                                          const ReadRun& read);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_MOMENTS_RUN_MOMENTS_H_
