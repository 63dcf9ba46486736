#include "readers/replay/threads/caused_growth.h"

#include <utility>
#include <vector>

#include "readers/places/place_table.h"
#include "readers/places/thread_filter.h"

namespace pymemrun {

std::unique_ptr<ThreadReplay> ReadCaused(RereadFile* file,
                                         const PeakFinder& finder,
                                         const TaskStepsReader* tasks,
                                         const TimeRange& range) {
  if (!finder.has_page_events() || finder.by_scan()) return nullptr;
  auto replay =
      std::make_unique<ThreadReplay>(finder.peak_us(), finder.hindsight());
  replay->TellTasksApart(tasks);
  replay->KeepRange(range);
  return file->Read(replay.get()) ? std::move(replay) : nullptr;
}

// Native threads have no Python code, so by thread they are one row, unless the
// user asked for threads by name.
void AddCaused(const ThreadReplay& replay, const std::string& wanted,
               ProfileTable* table) {
  ThreadFilter filter(wanted, &replay.index());
  const std::vector<ThreadTotals>& threads = replay.threads();
  replay.ForEachChange([&](const ThreadReplay::Change& at) {
    if (at.thread == 0) return;
    const RssTotals totals = {at.growth_bytes, at.shrinkage_bytes, 0};
    if (!filter.Keeps(at.thread)) return table->AddOthers(totals);
    const bool is_native =
        at.thread < threads.size() && !threads[at.thread].is_python;
    if (table->by() == GroupBy::kThread && is_native && !filter.any()) {
      return table->AddNative(totals);
    }
    table->Add(PlaceOf(table->by(), replay.index(),
                       Origin{.stack = at.stack,
                              .thread = at.thread,
                              .task = replay.TaskLabel(at.task)}),
               totals);
  });
  table->AddUnseen(replay.unattributed_bytes());
}

}  // namespace pymemrun
