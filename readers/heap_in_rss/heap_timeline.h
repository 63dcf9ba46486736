// RSS beside the heap over time: `pymemreport timeline --by heap`.
#ifndef PYMEMRUN_READERS_HEAP_IN_RSS_HEAP_TIMELINE_H_
#define PYMEMRUN_READERS_HEAP_IN_RSS_HEAP_TIMELINE_H_

#include <cstdint>
#include <vector>

#include "readers/heap/heap_replay.h"
#include "readers/resident/resident_replay.h"

namespace pymemrun {

// What is alive at each of some moments, by who was asked for it.
class HeapDomains final : public HeapReplay {
 public:
  struct Values {
    double python = 0;    // CPython's allocator domains
    double native = 0;    // C code's malloc, calloc, ...
    double tracing = 0;   // tracing's own
    double reserved = 0;  // what C code has mapped, touched or not
  };
  // `time_us` rises. REQUIRES: it is not empty.
  explicit HeapDomains(std::vector<uint64_t> time_us);
  void Finish() override;
  // One for each moment. REQUIRES: Finish() was called.
  const std::vector<Values>& values() const { return values_; }

 private:
  uint64_t OnStop(uint64_t stop_us) override;
  void TakeValues();

  const std::vector<uint64_t> time_us_;
  std::vector<Values> values_;
};

// RSS at each of some moments: of a run with page events as the model has it,
// else the latest of the rows and of what was read each 250 ms.
class RssAtMoments final : public ResidentReplay {
 public:
  RssAtMoments(std::vector<uint64_t> time_us, Hindsight hindsight);
  bool OnRows(const Row* rows, size_t count) override;
  void Finish() override;
  // One for each moment. REQUIRES: Finish() was called.
  const std::vector<uint64_t>& rss_bytes() const { return rss_bytes_; }

 private:
  void OnTime(uint64_t time_us) override;
  void OnReading(uint64_t time_us, uint64_t hwm_bytes) override;
  void TakeRows(uint64_t time_us);

  struct Reading {
    uint64_t time_us = 0, rss_bytes = 0;
  };
  const std::vector<uint64_t> time_us_;
  std::vector<uint64_t> rss_bytes_;
  std::vector<uint64_t> reading_us_;  // when that was read
  uint64_t last_reading_us_ = 0;
  std::vector<Reading> row_;  // the latest row at each moment
  Reading last_row_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_HEAP_IN_RSS_HEAP_TIMELINE_H_
