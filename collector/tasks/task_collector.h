// The collector's half of steps of tasks: from the side ring's items to
// records.
#ifndef PYMEMRUN_COLLECTOR_TASKS_TASK_COLLECTOR_H_
#define PYMEMRUN_COLLECTOR_TASKS_TASK_COLLECTOR_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "collector/output/source.h"
#include "collector/side/side_items.h"
#include "format/timed/task_batch.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// CollectorProcess owns one where tasks are traced. Not thread safe. All
// pointers must outlive it.
class TaskCollector final : public Source, public SideTaker {
 public:
  struct Options : SourceParts {
    // Tasks that are not done, at most: of more nothing is recorded.
    size_t most_tasks = size_t{1} << 20;
  };
  // Takes the side ring's items of tasks from here on.
  explicit TaskCollector(Options options);

  void Describe(uint64_t start_ns) override;
  void TakeItem(const SideItemView& item, uint32_t stack) override;
  // A step is held back for a while where its thread has no name yet.
  size_t Round(uint64_t looked_ns) override;
  void EndBatch(uint64_t now_ns) override;
  void Finish(uint64_t now_ns, bool process_lives) override;

 private:
  struct Known {
    uint32_t id = 0;
    uint64_t coroutine = 0;  // 0: its name was lost
    std::string name;
    TaskKind kind = TASK_OF_ASYNCIO;
  };
  struct Waiting {
    uint32_t thread;  // Linux thread id
    TaskEvent event;  // without its thread
  };

  void TakeName(const SideItemView& item, uint32_t stack);
  void TakeStep(const SideItemView& item, uint32_t stack);
  Known* KnownAt(uint64_t address);
  void WriteDef(const Known& task, uint64_t time_ns, uint32_t stack);
  uint64_t TimeOf(uint64_t stamp) const;
  bool IsReady(const Waiting& step, uint64_t now) const;
  void Give(const Waiting& step);
  void AddStepsUnderWay(uint64_t now_ns);
  void WriteBatch();
  void WriteRecording(uint64_t time_ns, uint64_t lost);

  const Options options_;
  TaskBatchEncoder encoder_;
  absl::flat_hash_map<uint64_t, Known> tasks_;  // not done, by address
  uint32_t last_id_ = 0;
  std::deque<Waiting> waiting_;
  uint64_t refused_ = 0;  // invalid items, and items that did not fit
  uint64_t written_lost_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_TASKS_TASK_COLLECTOR_H_
