// Finds when RSS was highest. Every command that reads page events starts with
// this.
#ifndef PYMEMRUN_READERS_REPLAY_RESIDENT_FIND_PEAK_H_
#define PYMEMRUN_READERS_REPLAY_RESIDENT_FIND_PEAK_H_

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "readers/replay/library_waits/library_waits.h"
#include "readers/replay/resident/resident_replay.h"
#include "readers/run/reread_file.h"

namespace pymemrun {

// Reads a run once, from its start, into visitors, and calls their Finish().
// Returns false if nothing could be read.
using ReadRun = std::function<bool(absl::Span<ReplayVisitor* const>)>;
// Reads with a function that takes one visitor: once for each visitor.
ReadRun OneByOne(std::function<bool(ReplayVisitor*)> read);
// Reads this file, which must outlive the result.
ReadRun ReadingOf(RereadFile* file);

// A time during which RSS was high: it stayed within 64 KiB, or rose unseen.
struct RssStretch {
  uint64_t begin_us, end_us;
  uint64_t bytes;           // the most in that time
  uint64_t fell_bytes = 0;  // the fall from `bytes` to the end
  uint64_t rose_bytes = 0;  // the rise from the start to `bytes`
};

// Finds the moment of the highest RSS. statm reported it, or page events show
// it between two readings. It never exceeds the VmHWM that was read next.
//
// If VmHWM exceeds all that is known, RSS was that high at an unknown time. The
// peak is then placed at the moment with the highest known RSS.
//
// Several moments may be within 1 % of the peak. The one with the least
// unattributed RSS is chosen: the peak itself, or a moment at which the kernel
// was asked. Right after a system call starts to fill memory, most of it has no
// owner yet.
class PeakFinder : public ResidentReplay {
 public:
  // `reads_heap`: also reads heap events, which show waits for libraries and,
  // where pages were scanned, growth. They are many, so a first reading goes
  // without.
  explicit PeakFinder(Hindsight hindsight = {}, bool reads_heap = false)
      : ResidentReplay(kEnd, std::move(hindsight)), reads_heap_(reads_heap) {}
  // Reads the whole run, and once more if hindsight changes what was resident.
  // Returns null if nothing could be read.
  template <typename Finder>
  static std::unique_ptr<Finder> Read(const ReadRun& read);

  // REQUIRES: Finish() was called.
  uint64_t peak_us() const { return peak_us_; }
  uint64_t peak_bytes() const { return peak_bytes_; }
  // False if only VmHWM shows it.
  bool peak_was_seen() const { return !peak_unseen_; }
  // The times, in order, at which RSS cannot be distinguished from the peak.
  const std::vector<RssStretch>& high() const { return high_; }
  Hindsight hindsight() const override;
  bool OnRows(const Row* rows, size_t count) override;
  HeapUse heap_use() const override {
    return reads_heap_ ? HeapUse::kEvents : HeapUse::kFacts;
  }
  void OnHeapBatch(const HeapBatchFacts&) override { saw_heap_ = true; }
  bool OnHeap(const HeapEvent* events, size_t count) override;
  bool OnPages(const PageEntry* entries, size_t count) override;
  void Finish() override;
  // Whether heap events may show more waits, so that a WaitReader must read
  // them.
  bool NeedsWaits() const {
    return saw_heap_ && !reads_heap_ && index().threads() > 1;
  }
  void KnowWaits(std::shared_ptr<const LibraryWaits> waits) {
    waits_ = std::move(waits);
  }

 private:
  bool TellsGrowth() const { return by_scan() && header().calls_off(); }
  void AddGrowth(const SeenGrowth& growth);
  std::shared_ptr<const std::vector<SeenGrowth>> GrowthWithWaits() const;
  void OnTime(uint64_t time_us) override;
  void OnReading(uint64_t time_us, uint64_t hwm_bytes) override;
  void OnGone(std::vector<LateArrival> blocks) override;
  void InferHugePages(uint64_t seen_bytes, uint64_t hwm_bytes);
  void Take(uint64_t most_bytes);
  void RaiseTo(uint64_t hwm_bytes);
  void RememberWhatIsKnown();
  uint64_t KnownNow() const;
  void AddHigh(uint64_t end_us, uint64_t rss_bytes);
  void KeepHigh();
  static bool IsAlmost(uint64_t bytes, uint64_t peak_bytes);

  // Blocks that were removed at once, and may have been huge pages.
  struct GoneBlocks {
    std::vector<LateArrival> blocks;
    uint64_t from_us, to_us;
    // Known just before the removal; with whole huge pages.
    uint64_t rss_bytes, more_bytes;
  };

  const bool reads_heap_;
  bool saw_heap_ = false;
  uint64_t peak_us_ = 0, peak_bytes_ = 0;
  uint64_t peak_known_bytes_ = 0;  // without what was unattributed then
  bool peak_unseen_ = false;
  uint64_t high_us_ = 0, high_bytes_ = 0;  // since the last reading
  uint64_t high_known_bytes_ = 0;          // likewise
  std::vector<RssStretch> high_;
  uint64_t taken_us_ = 0;  // when VmHWM was read
  uint64_t last_hwm_bytes_ = 0;
  // The latest moment at which the kernel was asked while RSS was almost as
  // high, and most of it was known.
  uint64_t known_us_ = 0, asked_bytes_ = 0, known_bytes_ = 0;
  std::vector<GoneBlocks> gone_;  // since the last reading
  WaitFinder finder_{&index()};
  std::shared_ptr<const LibraryWaits> waits_;  // once it has finished
  uint64_t row_us_ = 0;                        // of the last event
  std::vector<SeenGrowth> growth_;             // where pages are scanned
};

template <typename Finder>
std::unique_ptr<Finder> PeakFinder::Read(const ReadRun& read) {
  auto finder = std::make_unique<Finder>();
  if (!read({finder.get()})) return nullptr;
  Hindsight hindsight;
  hindsight.late = finder->ResidentReplay::hindsight().late;
  const bool reads_heap = finder->saw_heap_ && finder->TellsGrowth();
  if (hindsight.late.empty() && !reads_heap) return finder;
  finder = std::make_unique<Finder>(std::move(hindsight), reads_heap);
  return read({finder.get()}) ? std::move(finder) : nullptr;
}

// Reads the file for its peak, and for the hindsight that later readings use.
// Returns null if nothing could be read.
std::unique_ptr<PeakFinder> FindPeak(RereadFile* file);

// If the run has no page events, prints this and returns true.
bool SayNoPageEvents(const ResidentReplay& replay, const RereadFile& file,
                     const Console& console);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_RESIDENT_FIND_PEAK_H_
