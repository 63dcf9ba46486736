// RSS over time by who holds it: `pymemreport timeline` for a run with heap
// events.
#ifndef PYMEMRUN_READERS_ANSWER_MEMORY_HELD_TIMELINE_H_
#define PYMEMRUN_READERS_ANSWER_MEMORY_HELD_TIMELINE_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "format/records/read_steps.h"
#include "readers/answer/memory/memory_split.h"
#include "readers/replay/heap/heap_replay.h"
#include "readers/replay/resident/timeline.h"
#include "readers/run/reread_file.h"

namespace pymemrun {

// Reads the heap of a file, moment by moment, while another reader is elsewhere
// in the file. Not thread safe.
class HeapBeside {
 public:
  // The position of `fd` is not changed.
  HeapBeside(int fd, std::shared_ptr<const LibraryWaits> waits)
      : source_(fd), reader_(&source_, StreamReader::Options(), &heap_) {
    heap_.KnowWaits(std::move(waits));
  }
  // Reads until everything up to `time_us` is in the heap. REQUIRES: times
  // ascend.
  void AdvanceTo(uint64_t time_us);
  const HeapReplay& heap() const { return heap_; }
  void KnowThreads(const RunIndex& earlier) { heap_.KnowThreads(earlier); }

 private:
  // Keeps events after the requested time for the next request.
  class Heap final : public HeapReplay {
   public:
    bool OnHeap(const HeapEvent* events, size_t count) override;
    // Returns false if an event is later than that.
    bool TakeUntil(uint64_t time_us);

   private:
    std::vector<HeapEvent> held_;
    size_t next_ = 0;
  };

  BesideSource source_;
  Heap heap_;
  ReadSteps reader_;
  bool at_end_ = false;
};

// At each moment SplitMemory() charges RSS. If that takes long, there are fewer
// moments, so that the time is linear in the file. Not thread safe.
class HeldTimelineReplay : public TimelineReplay {
 public:
  // `fd` is that of the file being read. `peak_us` is one of `time_us`.
  HeldTimelineReplay(GroupBy by, std::vector<uint64_t> time_us,
                     uint64_t peak_us, int fd, Hindsight hindsight);

 protected:
  virtual void TakeSplit(const MemorySplit& split);

 private:
  void TakeValues(uint64_t time_us) final;
  bool IsWanted(uint64_t time_us) override;

  const GroupBy by_;
  const size_t moments_;
  const uint64_t peak_us_;
  HeapBeside beside_;
  size_t asked_ = 0;    // moments so far
  uint64_t looks_ = 0;  // blocks and pages examined so far
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ANSWER_MEMORY_HELD_TIMELINE_H_
