// RSS over time by place: what `pymemreport timeline` shows.
#ifndef PYMEMRUN_READERS_REPLAY_RESIDENT_TIMELINE_H_
#define PYMEMRUN_READERS_REPLAY_RESIDENT_TIMELINE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "readers/places/place_table.h"
#include "readers/places/thread_filter.h"
#include "readers/replay/resident/resident_replay.h"
#include "readers/series/series.h"

namespace pymemrun {

// Records the bytes of places at some moments; a place owns the pages that its
// code touched first. Not thread safe.
class TimelineReplay : public ResidentReplay {
 public:
  // `time_us` is ascending. REQUIRES: `by` is not kMapping.
  TimelineReplay(GroupBy by, std::vector<uint64_t> time_us, Hindsight hindsight,
                 uint64_t until_us = kEnd);
  // Other threads' bytes become one row. To be called before reading, if at
  // all.
  void KeepThreads(const std::string& wanted) {
    threads_ = ThreadFilter(wanted, &index());
  }
  void Finish() override;
  ThreadFilter& threads() { return threads_; }
  // RSS over time: places, the others, the parts, memory from before tracing,
  // and unattributed memory add up to it. REQUIRES: Finish() was called.
  Curves Result(const SeriesChoice& choice = {}) const;

 protected:
  // Charges the bytes at this moment, which is that of the model, by Add...().
  virtual void TakeValues(uint64_t time_us);
  // Whether the moment is worth the time; the last one always is.
  virtual bool IsWanted(uint64_t time_us) { return true; }
  void AddBefore(uint64_t bytes) { Add(bytes, &before_); }
  void AddPlace(const Place& place, uint64_t bytes) {
    AddTo(places_.NumberOf(place), bytes);
  }
  void AddOther(uint64_t bytes) { Add(bytes, &curves_.others.values); }
  void AddPart(absl::string_view name, uint64_t bytes);

 private:
  // The most places; further places are counted with the others.
  static constexpr size_t kMaxPlaces = 20000;

  void OnTime(uint64_t time_us) override;
  void TakeMoment(uint64_t time_us);
  // Adds to the value of the current moment.
  void Add(uint64_t bytes, std::vector<double>* values);
  void AddTo(uint32_t number, uint64_t bytes);

  ThreadFilter threads_{"", &index()};
  PlaceTable places_;
  OriginNumbers numbers_;
  const std::vector<uint64_t> moments_;
  size_t next_ = 0;  // index into moments_
  Curves curves_;    // without places; zeros at the end may be missing
  std::vector<double> before_, unattributed_;
  PlaceValues values_;
  uint64_t added_bytes_ = 0;  // at the current moment
};

// Finds the highest RSS in a part of a run, including both ends. Not thread
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

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_RESIDENT_TIMELINE_H_
