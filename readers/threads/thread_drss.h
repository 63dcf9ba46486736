// What each thread did to RSS between two moments: pymemcat's column
// thread_drss_bytes.
#ifndef PYMEMRUN_READERS_THREADS_THREAD_DRSS_H_
#define PYMEMRUN_READERS_THREADS_THREAD_DRSS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "readers/resident/find_peak.h"
#include "readers/resident/resident_replay.h"

namespace pymemrun {

// Keeps each change of RSS that a thread caused: 16 bytes for each thread and
// microsecond in which there was one. Not thread safe.
class ThreadDrss final : public ResidentReplay {
 public:
  // Reads the run, twice where pages came late (see Hindsight). Changes before
  // `from_us` do not count. Null: nobody saw which thread brought pages, or
  // nothing could be read. A run without page events is read up to its first
  // batch.
  static std::unique_ptr<ThreadDrss> Read(const ReadRun& read,
                                          uint64_t from_us);

  ThreadDrss(uint64_t from_us, Hindsight hindsight)
      : ResidentReplay(kEnd, std::move(hindsight)), from_us_(from_us) {}

  void OnThread(const ThreadDef& thread) override;
  bool OnRows(const Row*, size_t) override { return KnowsPages(); }
  bool OnHeap(const HeapEvent*, size_t) override { return KnowsPages(); }
  void Finish() override;

  // What the thread changed RSS by after the last moment that was asked for,
  // up to `until_us`. A renamed thread is one.
  int64_t Take(uint32_t thread, uint64_t until_us);

 private:
  struct Change {
    uint64_t time_us;
    int64_t bytes;
  };
  struct Changes {
    std::vector<Change> by_time;
    size_t taken = 0;
  };
  bool KnowsPages() const { return has_page_events() && !by_scan(); }
  void OnChanged(uint32_t thread, uint32_t stack, int64_t bytes) override;

  const uint64_t from_us_;
  std::vector<Changes> threads_ = {{}};  // by id; 0: of what no thread did
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_THREADS_THREAD_DRSS_H_
