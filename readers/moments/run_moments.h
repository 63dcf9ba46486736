// When the moments of a run were, on the run's clock.
#ifndef PYMEMRUN_READERS_MOMENTS_RUN_MOMENTS_H_
#define PYMEMRUN_READERS_MOMENTS_RUN_MOMENTS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "readers/heap/heap_replay.h"
#include "readers/moments/moment.h"
#include "readers/resident/find_peak.h"
#include "readers/resident/resident_replay.h"

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

// A run has one peak: the highest RSS. Page events tell when it was, and scans
// of pages do. Among moments at which RSS was equal, as far as it is known, it
// is that with the most live bytes, and none of finalization. A peak between
// two scans was where most was alive, or by the highest scan. Without page
// events the events and samples that read RSS tell it. Where VmHWM rose above
// all these between two samples, the most live bytes in between are the best
// that is known. Not thread safe.
class RunMoments final : public PeakFinder {
 public:
  explicit RunMoments(Hindsight hindsight = {})
      : PeakFinder(std::move(hindsight)) {}
  // Null: nothing could be read.
  static std::unique_ptr<RunMoments> Of(const ReadRun& read);

  bool OnRows(const Row* rows, size_t count) override;
  bool OnHeap(const HeapEvent* events, size_t count) override;
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
  // That of Moment::kPeak.
  FoundMoment RssPeak() const;
  // The highest RSS that is known, VmHWM included.
  uint64_t PeakBytes() const;
  // The run's last moment.
  uint64_t EndUs() const;

 private:
  struct Reading {
    uint64_t time_us = 0, bytes = 0;
    void Raise(uint64_t at_us, uint64_t to_bytes);
  };

  bool IsSeen() const;
  bool PagesTell() const;
  void FindInHeap(const ReadRun& read);
  void ChooseAmongHigh(const ReadRun& read);
  FoundMoment FindEnd(const ReadRun& read) const;

  Reading row_, sample_, unseen_, scan_;  // the highest RSS of each
  uint64_t hwm_bytes_ = 0;
  // VmHWM rose to the highest between these samples.
  uint64_t rose_after_us_ = 0, rose_until_us_ = kEnd;
  uint64_t last_sample_us_ = 0, last_event_us_ = 0;
  uint64_t heap_peak_us_ = kEnd;       // where that is the peak
  std::optional<uint64_t> better_us_;  // than peak_us(), and as high
  bool has_heap_ = false;
  Footer footer_;
};

// A moment as HeapMoments takes it. Reads no more than is needed.
absl::StatusOr<HeapMoment> FindHeapMoment(const Moment& moment,
                                          const ReadRun& read);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_MOMENTS_RUN_MOMENTS_H_
