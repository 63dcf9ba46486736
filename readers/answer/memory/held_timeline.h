// RSS over time by who holds it: what `pymemreport timeline` draws of a run
// with heap events.
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

// Reads the heap of a file up to one moment after the other, while another
// reader is somewhere else in it. Not thread safe.
class HeapBeside {
 public:
  // `fd` stays where it is.
  HeapBeside(int fd, std::shared_ptr<const LibraryWaits> waits)
      : source_(fd), reader_(&source_, StreamReader::Options(), &heap_) {
    heap_.KnowWaits(std::move(waits));
  }
  // Reads on until all up to `time_us` is in the heap. Times rise.
  void AdvanceTo(uint64_t time_us);
  const HeapReplay& heap() const { return heap_; }
  void KnowThreads(const RunIndex& earlier) { heap_.KnowThreads(earlier); }

 private:
  // Holds back what is later than it is asked for.
  class Heap final : public HeapReplay {
   public:
    bool OnHeap(const HeapEvent* events, size_t count) override;
    // False: something is later than that.
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

// At each moment SplitMemory() says who holds what. Where that takes long there
// are fewer moments: the time is linear in the file. Not thread safe.
class HeldTimelineReplay : public TimelineReplay {
 public:
  // `fd`: that of the file that it is read from. `peak_us` is one of `time_us`.
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
  size_t asked_ = 0;    // moments
  uint64_t looks_ = 0;  // at blocks and pages
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ANSWER_MEMORY_HELD_TIMELINE_H_
