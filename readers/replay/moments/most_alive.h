// Chooses among the moments at which RSS was as high as the peak, as far as it
// is known: the one with the most live bytes.
#ifndef PYMEMRUN_READERS_REPLAY_MOMENTS_MOST_ALIVE_H_
#define PYMEMRUN_READERS_REPLAY_MOMENTS_MOST_ALIVE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "readers/replay/heap/heap_replay.h"
#include "readers/replay/resident/find_peak.h"
#include "readers/replay/resident/resident_replay.h"

namespace pymemrun {

// Finds blocks that are allocated and freed within one batch of heap events; in
// most programs nearly all are. Uses 64 KiB, which fit into the processor's
// cache. Not thread safe.
class HeapPairs {
 public:
  // Returns the events that are in no such pair, in their order; valid until
  // the next call. If an address is allocated twice without a free, both events
  // are kept: the first block's free was lost, so it stays alive.
  const std::vector<HeapEvent>& LeaveOut(const HeapEvent* events,
                                         size_t count) {
    ++call_;
    gone_.assign(count, 0);
    for (size_t i = 0; i < count; ++i) See(events[i], i);
    left_.clear();
    for (size_t i = 0; i < count; ++i) {
      if (gone_[i] == 0) left_.push_back(events[i]);
    }
    return left_;
  }

 private:
  // The last allocation at an address with this hash.
  struct Slot {
    uint64_t address;
    uint32_t number, call;
  };
  static constexpr int kBits = 12;

  void See(const HeapEvent& event, size_t number) {
    if (event.free_of != HeapFreeOf::kBlock || event.allocator >= HEAP_MMAP) {
      return;
    }
    Slot& slot = slots_[event.address * 0x9E3779B97F4A7C15u >> (64 - kBits)];
    const bool is_same = slot.call == call_ && slot.address == event.address;
    if (event.is_free) {
      if (!is_same) return;
      gone_[slot.number] = gone_[number] = 1;
      slot.call = 0;
    } else if (is_same) {
      slot.call = 0;
    } else {
      slot = {event.address, static_cast<uint32_t>(number), call_};
    }
  }

  std::array<Slot, size_t{1} << kBits> slots_ = {};
  uint32_t call_ = 0;
  std::vector<uint8_t> gone_;
  std::vector<HeapEvent> left_;
};

// Reads heap events for the best moment. Not thread safe.
class MostAlive final : public HeapReplay {
 public:
  // `stretches` are ordered by time. `at_us` is chosen if no other moment is
  // better, or if at least `enough_bytes` were alive, or mapped and resident,
  // at it.
  MostAlive(const std::vector<RssStretch>& stretches, uint64_t at_us,
            double enough_bytes);
  void OnResidency(const ResidencyView& seen) override;
  bool OnHeap(const HeapEvent* events, size_t count) override;
  void Finish() override;

  // Returns nothing if no moment is better. REQUIRES: Finish() was called.
  std::optional<uint64_t> Better() const;

 private:
  // A moment with more live bytes than any before it in its stretch.
  struct Most {
    double live_bytes = -1;  // below 0: unknown yet
    uint64_t time_us = 0;
    double freed_bytes = 0;  // up to then
    double moved = 0;        // moved_variance_ at that time
  };
  struct Stretch {
    RssStretch rss;
    Most most;
  };
  void TakeLive(uint64_t time_us);
  void TakeMoved();
  void EndStretch();
  bool HoldsMoment(const RssStretch& rss) const;
  double KnownBytes(const Stretch& one) const;
  double MappedResident() const;

  const uint64_t at_us_;
  const double enough_bytes_;
  // Pages of files at `at_us`, if it was a scan, and at the scans before and
  // after it: other moments are taken to have had no more.
  uint64_t files_before_ = 0, files_at_ = 0, files_after_ = 0;
  bool was_scanned_ = false, is_scan_ = false;  // ever; the last one
  bool knows_files_ = false;  // the scan after it was read, too
  double at_bytes_ = 0;       // alive at `at_us`
  // What C code had mapped then, and what was resident, sorted by address.
  std::vector<std::pair<uint64_t, uint64_t>> at_mapped_;
  std::vector<ResidentRange> at_resident_;
  std::vector<Stretch> stretches_;
  size_t now_ = 0;  // the first stretch that is not over
  // In that stretch: the moments with more live bytes than the one before; the
  // bytes freed; the last live bytes.
  std::vector<Most> rising_;
  double freed_bytes_ = 0, came_bytes_ = 0, last_bytes_ = 0;
  bool has_begun_ = false, has_risen_ = false;
  // Variance of what was allocated and freed so far: a difference gives that of
  // the change between two moments.
  double moved_variance_ = 0, last_variance_ = 0;
  HeapPairs pairs_;
  bool was_apart_ = false;  // some events were not examined one by one
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_MOMENTS_MOST_ALIVE_H_
