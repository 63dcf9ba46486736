// The change of RSS by each thread between two moments: for pymemcat's columns
// thread_drss_bytes and call_thread_drss_bytes, and for reports about calls.
#ifndef PYMEMRUN_READERS_REPLAY_THREADS_THREAD_DRSS_H_
#define PYMEMRUN_READERS_REPLAY_THREADS_THREAD_DRSS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "readers/replay/resident/find_peak.h"
#include "readers/replay/resident/resident_replay.h"
#include "readers/replay/rows/row_writer.h"
#include "readers/run/reread_file.h"

namespace pymemrun {

// Keeps each change of RSS that a thread caused. Memory: 16 bytes for each
// thread and microsecond with a change. Not thread safe.
class ThreadDrss final : public ResidentReplay, public RowDrss {
 public:
  // Reads the run, twice if pages came late (see Hindsight). Take() ignores
  // changes before `from_us`. Returns null if no page faults were recorded, or
  // nothing could be read. The reading may omit rows and heap events.
  static std::unique_ptr<ThreadDrss> Read(const ReadRun& read,
                                          uint64_t from_us);
  // Reads a whole run. Does not report its end or damage.
  static std::unique_ptr<ThreadDrss> Read(RereadFile* file);

  ThreadDrss(uint64_t from_us, Hindsight hindsight)
      : ResidentReplay(kEnd, std::move(hindsight)), from_us_(from_us) {}

  void OnThread(const ThreadDef& thread) override;
  // Stops reading a run without page faults.
  bool OnRows(const Row*, size_t) override { return has_faults(); }
  HeapUse heap_use() const override { return HeapUse::kEvents; }
  bool OnHeap(const HeapEvent*, size_t) override { return has_faults(); }
  void Finish() override;

  // The change since the thread's last row asked for, up to this row. Renamed
  // threads count as one thread.
  int64_t Take(const Row& row) override {
    Changes& changes = threads_[IdOf(row.thread)];
    return changes.next_us > row.time_us ? 0 : TakeUntil(row.time_us, &changes);
  }
  int64_t OfCall(const Row& row) const override {
    return Between(row.thread, row.time_us - row.call_us, row.time_us);
  }
  // The change after `from_us`, up to and including `to_us`. REQUIRES: Finish()
  // was called.
  int64_t Between(uint32_t thread, uint64_t from_us, uint64_t to_us) const;

 private:
  struct Change {
    uint64_t time_us;
    int64_t bytes;  // after Finish(): the sum up to here
  };
  struct Changes {
    std::vector<Change> by_time;
    size_t taken = 0;
    uint64_t next_us = kEnd;  // of the next change to take
  };
  uint32_t IdOf(uint32_t thread) const {
    return latest_[thread < latest_.size() ? thread : 0];
  }
  bool has_faults() const {
    return header().page_period() != 0 && !header().page_scan();
  }
  static int64_t TakeUntil(uint64_t time_us, Changes* changes);
  bool KnowsPages() const { return has_page_events() && !by_scan(); }
  void OnChanged(const PageOwner& by, int64_t bytes) override;

  const uint64_t from_us_;
  std::vector<Changes> threads_ = {{}};  // by id; 0: changes by no thread
  std::vector<uint32_t> latest_;         // by id, below threads_.size()
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_THREADS_THREAD_DRSS_H_
