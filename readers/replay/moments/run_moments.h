// When the moments of a run were, on the run's clock.
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

// When it was, and what it is called.
struct FoundMoment {
  uint64_t time_us = 0;
  std::string name = {};  // "the peak of RSS"; empty: no more than a time
  bool is_last = false;   // all that the file tells was before it

  // What a ResidentReplay is to read up to.
  uint64_t UntilUs() const { return is_last ? ReplayVisitor::kEnd : time_us; }
  // The same for a HeapMoments.
  HeapMoment OfBlocks() const {
    return {is_last ? HeapMoment::kEnd : HeapMoment::kTime, time_us};
  }

  // "the peak of RSS, 7.270 s"
  std::string Text() const;
};

// A run has one peak: the highest RSS. Page faults tell when it was. Otherwise
// events, samples and scans of pages read RSS, and VmHWM tells between which of
// them it was higher. Among moments at which RSS was equal, as far as it is
// known, it is that with the most live bytes, and none of finalization. Not
// thread safe.
class RunMoments final : public PeakFinder {
 public:
  explicit RunMoments(Hindsight hindsight = {}, bool reads_heap = false)
      : PeakFinder(std::move(hindsight), reads_heap) {}
  // Null: nothing could be read.
  static std::unique_ptr<RunMoments> Of(const ReadRun& read);

  bool OnRows(const Row* rows, size_t count) override;
  void OnHeapBatch(const HeapBatchFacts& facts) override;
  void OnHeader(const Header& header) override;
  void OnProcess(const ProcessSample& sample) override;
  void OnPeak(const Peak& peak) override;
  void OnResidency(const ResidencyView& seen) override;
  void OnFooter(const Footer& footer) override;
  // With the peak, so that each later reading has the same RSS there.
  Hindsight hindsight() const override;

  // Fails when the run has no such moment, and says which it has. `read` reads
  // the same file again, where that is needed.
  absl::StatusOr<FoundMoment> Find(const Moment& moment,
                                   const ReadRun& read) const;
  // That of Moment::kPeak. REQUIRES: made by Of().
  const FoundMoment& RssPeak() const { return peak_; }
  // The highest RSS that is known, VmHWM included.
  uint64_t PeakBytes() const;
  // The run's last moment.
  uint64_t EndUs() const;
  // Up to when it is known what was resident: to the end, or to the last
  // reading of RSS, where a process told nothing of its end and RSS is only
  // read now and then.
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
  Reading highest_, scan_;  // the highest RSS of all readings, of scans
  uint64_t hwm_bytes_ = 0, hwm_us_ = 0;  // when it was read last
  uint64_t last_event_us_ = 0, last_reading_us_ = 0;
  FoundMoment peak_;
  bool has_heap_ = false, has_faults_ = false;
  Footer footer_;
};

// Reads `beside`, too, in the first reading that takes heap events, unless
// *is_read; then it is. All must outlive it.
ReadRun ReadingBeside(const ReadRun& read, ReplayVisitor* beside,
                      bool* is_read);

// A moment as HeapMoments takes it. Reads no more than is needed.
absl::StatusOr<HeapMoment> FindHeapMoment(const Moment& moment,
                                          const ReadRun& read);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_MOMENTS_RUN_MOMENTS_H_
