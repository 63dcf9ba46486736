// RSS over time by place: what `pymemreport timeline` shows.
#ifndef PYMEMRUN_READERS_RESIDENT_TIMELINE_H_
#define PYMEMRUN_READERS_RESIDENT_TIMELINE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "readers/places/place_table.h"
#include "readers/places/table_view.h"
#include "readers/places/thread_filter.h"
#include "readers/resident/resident_replay.h"

namespace pymemrun {

// One value for each step. At every step the series, the others, the parts,
// what was there before tracing and what is unattributed add up to RSS.
struct Timeline {
  struct Series {
    Place place;  // names live as long as the replay
    std::vector<uint64_t> bytes;
    uint64_t peak_bytes = 0;
  };
  std::vector<uint64_t> time_us;
  std::vector<uint64_t> rss_bytes;
  std::vector<Series> series;  // the highest peaks first
  std::vector<uint64_t> other_bytes;
  std::vector<uint64_t> before_bytes;  // tracing
  std::vector<Series> parts;           // of RSS that are no places
  std::vector<int64_t> unattributed_bytes;
};

// Takes a value at each of some moments: of places whose code touched pages
// first. Not thread safe.
class TimelineReplay : public ResidentReplay {
 public:
  // `time_us` rises. REQUIRES: `by` is not kMapping.
  TimelineReplay(GroupBy by, std::vector<uint64_t> time_us, Hindsight hindsight,
                 uint64_t until_us = kEnd);
  // To be called before reading: what other threads have is of other places.
  void KeepThreads(const std::string& wanted) {
    threads_ = ThreadFilter(wanted, &index());
  }
  void Finish() override;
  ThreadFilter& threads() { return threads_; }
  // With a series for each of the `top` places with the highest peaks, if they
  // are at least `least_bytes`, and whose files the view lists. REQUIRES:
  // Finish() was called.
  Timeline Result(uint64_t top, uint64_t least_bytes,
                  const TableView& view = {}) const;

 protected:
  // Who has what at that moment, which the model is at: by Add...().
  virtual void TakeValues(uint64_t time_us);
  // Whether the moment is worth its time. The last one is.
  virtual bool IsWanted(uint64_t time_us) { return true; }
  void AddBefore(uint64_t bytes) { AddTo(0, bytes); }
  void AddPlace(const Place& place, uint64_t bytes) {
    AddTo(1 + places_.NumberOf(place), bytes);
  }
  void AddOther(uint64_t bytes) { not_placed_.back() += bytes; }
  void AddPart(absl::string_view name, uint64_t bytes);

 private:
  // Places beyond so many are others.
  static constexpr size_t kMaxPlaces = 20000;

  void OnTime(uint64_t time_us) override;
  void TakeMoment(uint64_t time_us);
  void AddTo(uint32_t number, uint64_t bytes);

  ThreadFilter threads_{"", &index()};
  PlaceTable places_;
  OriginNumbers numbers_;
  const std::vector<uint64_t> moments_;
  size_t next_ = 0;  // of moments_
  Timeline line_;    // without its series; without parts that have not come
  // First of what was there before tracing, then by number of the place;
  // shorter where the last ones are 0.
  std::vector<std::vector<uint64_t>> bytes_;
  // Bytes of places beyond kMaxPlaces, and of threads that are not kept.
  std::vector<uint64_t> not_placed_;
  uint64_t added_bytes_ = 0;  // at the moment that is taken
};

// Finds when RSS was highest in a part of a run, both ends included. Not thread
// safe.
class PartPeak final : public ResidentReplay {
 public:
  PartPeak(uint64_t from_us, uint64_t to_us, Hindsight hindsight)
      : ResidentReplay(kEnd, std::move(hindsight)),
        from_us_(from_us),
        to_us_(to_us),
        time_us_(from_us) {}
  void Finish() override;
  // REQUIRES: Finish() was called.
  uint64_t time_us() const { return time_us_; }
  uint64_t bytes() const { return bytes_; }

 private:
  void OnTime(uint64_t time_us) override;

  const uint64_t from_us_, to_us_;
  uint64_t time_us_, bytes_ = 0;
};

// Moments for a picture: evenly from 0 to `end_us`, and `peak_us`.
std::vector<uint64_t> TimelineSteps(uint64_t end_us, uint64_t peak_us);
// The same from `from_us` on. REQUIRES: it is neither above `to_us` nor above
// `peak_us`.
std::vector<uint64_t> PartSteps(uint64_t from_us, uint64_t to_us,
                                uint64_t peak_us);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RESIDENT_TIMELINE_H_
