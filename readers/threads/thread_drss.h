// What each thread did to RSS between two moments: pymemcat's column
// thread_drss_bytes.
#ifndef PYMEMRUN_READERS_THREADS_THREAD_DRSS_H_
#define PYMEMRUN_READERS_THREADS_THREAD_DRSS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "readers/resident/find_peak.h"
#include "readers/resident/resident_replay.h"
#include "readers/rows/row_writer.h"

namespace pymemrun {

// Keeps each change of RSS that a thread caused: 16 bytes for each thread and
// microsecond in which there was one. Not thread safe.
class ThreadDrss final : public ResidentReplay, public RowDrss {
 public:
  // Reads the run, twice where pages came late (see Hindsight). Changes before
  // `from_us` do not count. Null: nobody saw which thread brought pages, or
  // nothing could be read. Rows and heap events need not be given.
  static std::unique_ptr<ThreadDrss> Read(const ReadRun& read,
                                          uint64_t from_us);

  ThreadDrss(uint64_t from_us, Hindsight hindsight)
      : ResidentReplay(kEnd, std::move(hindsight)), from_us_(from_us) {}

  void OnThread(const ThreadDef& thread) override;
  void Finish() override;

  // After the thread's last row that was asked for, up to this one. A renamed
  // thread is one.
  int64_t Take(const Row& row) override {
    const uint32_t thread = row.thread < latest_.size() ? row.thread : 0;
    Changes& changes = threads_[latest_[thread]];
    return changes.next_us > row.time_us ? 0 : TakeUntil(row.time_us, &changes);
  }

 private:
  struct Change {
    uint64_t time_us;
    int64_t bytes;
  };
  struct Changes {
    std::vector<Change> by_time;
    size_t taken = 0;
    uint64_t next_us = kEnd;  // of the next one to be taken
  };
  static int64_t TakeUntil(uint64_t time_us, Changes* changes);
  bool KnowsPages() const { return has_page_events() && !by_scan(); }
  void OnChanged(uint32_t thread, uint32_t stack, int64_t bytes) override;

  const uint64_t from_us_;
  std::vector<Changes> threads_ = {{}};  // by id; 0: of what no thread did
  std::vector<uint32_t> latest_;         // by id, below threads_.size()
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_THREADS_THREAD_DRSS_H_
