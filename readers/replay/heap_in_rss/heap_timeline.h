// RSS over time, shown with the heap or with threads: `pymemreport timeline`.
#ifndef PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_HEAP_TIMELINE_H_
#define PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_HEAP_TIMELINE_H_

#include <cstdint>
#include <vector>

#include "readers/replay/resident/resident_replay.h"
#include "readers/series/series.h"

namespace pymemrun {

// RSS at each of some moments. With page events it is that of the model;
// otherwise the latest of the rows and of the readings every 250 ms. Not thread
// safe.
class RssAtMoments final : public ResidentReplay {
 public:
  RssAtMoments(std::vector<uint64_t> time_us, Hindsight hindsight);
  bool OnRows(const Row* rows, size_t count) override;
  void Finish() override;
  // "rss_bytes". REQUIRES: Finish() was called.
  Series Result() const;

 private:
  void OnTime(uint64_t time_us) override;
  void OnReading(uint64_t time_us, uint64_t hwm_bytes) override;
  void TakeRows(uint64_t time_us);

  struct Reading {
    uint64_t time_us = 0, rss_bytes = 0;
  };
  const std::vector<uint64_t> time_us_;
  std::vector<uint64_t> rss_bytes_;
  std::vector<uint64_t> reading_us_;  // times of the readings
  uint64_t last_reading_us_ = 0;
  std::vector<Reading> row_;  // the latest row at each moment
  Reading last_row_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_HEAP_TIMELINE_H_
