// The collector's half of GIL events: from the side ring's items to records.
#ifndef PYMEMRUN_COLLECTOR_GIL_GIL_COLLECTOR_H_
#define PYMEMRUN_COLLECTOR_GIL_GIL_COLLECTOR_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>

#include "absl/container/flat_hash_map.h"
#include "collector/output/source.h"
#include "collector/side/side_items.h"
#include "format/timed/gil_batch.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// CollectorProcess owns one where GIL events are traced. Not thread safe. All
// pointers must outlive it.
class GilCollector final : public Source, public SideTaker {
 public:
  struct Options : SourceParts {
    uint64_t min_wait_ns;
    // Whether the process has such a thread; none: the side ring's reader says.
    std::function<bool(uint32_t thread)> lives = nullptr;
  };
  // Takes the side ring's GIL events from here on.
  explicit GilCollector(Options options);

  void Describe(uint64_t start_ns) override;
  void TakeItem(const SideItemView& item, uint32_t stack) override;
  // An event is held back for 50 ms: for what others say of the time before it,
  // and the event ring of its thread and C function.
  size_t Round(uint64_t looked_ns) override;
  void EndBatch(uint64_t now_ns) override;
  // Threads of a process that lives can still be asked for.
  void Finish(uint64_t now_ns, bool process_lives) override;

 private:
  struct Waiting {
    SideAny item;
    uint32_t stack;
  };
  // A thread that had an event and has not ended.
  struct Known {
    uint32_t id;            // ThreadDef.id
    bool was_gone = false;  // when it was last asked for
  };

  bool Lives(uint32_t thread) const;
  void Insert(const Waiting& waiting);
  void PutBack(const Waiting& late);
  bool IsReady(const SideAny& item, uint64_t now) const;
  void GiveFirst(uint64_t now_ns);
  void Give(const Waiting& waiting, uint64_t now_ns);
  void SetNote(const SideAny& item, GilEvent* event);
  uint64_t TimeOf(uint64_t stamp, uint64_t now_ns) const;
  uint64_t FreeFor(uint64_t since, uint64_t time_ns) const;
  uint32_t ThreadOf(uint32_t native, uint64_t time_ns);
  void AddStates(uint64_t now_ns);
  void LookForEnded(uint64_t now_ns, bool at_once);
  void Append(const GilEvent& event);
  void WriteBatch();

  const Options options_;
  GilBatchEncoder encoder_;
  std::deque<Waiting> waiting_;
  absl::flat_hash_map<uint32_t, Known> threads_;  // by Linux thread ids
  uint64_t refused_ = 0;                          // events that made no sense
  uint64_t written_lost_ = 0;
  uint64_t next_look_ns_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_GIL_GIL_COLLECTOR_H_
