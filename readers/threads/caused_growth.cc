#include "readers/threads/caused_growth.h"

#include <utility>
#include <vector>

#include "readers/places/place_table.h"
#include "readers/places/thread_filter.h"

namespace pymemrun {

std::unique_ptr<ThreadReplay> ReadCaused(RereadFile* file,
                                         const PeakFinder& finder) {
  if (!finder.has_page_events() || finder.by_scan()) return nullptr;
  auto replay =
      std::make_unique<ThreadReplay>(finder.peak_us(), finder.hindsight());
  return file->Read(replay.get()) ? std::move(replay) : nullptr;
}

void AddCaused(const ThreadReplay& replay, const std::string& wanted,
               ProfileTable* table) {
  ThreadFilter filter(wanted, &replay.index());
  const std::vector<ThreadTotals>& threads = replay.threads();
  replay.ForEachChange([&](uint32_t thread, uint32_t stack, uint64_t growth,
                           uint64_t shrinkage) {
    if (thread == 0) return;
    const RssTotals totals = {growth, shrinkage, 0};
    if (!filter.Keeps(thread)) return table->AddOthers(totals);
    const bool is_native =
        thread < threads.size() && !threads[thread].is_python;
    if (table->by() == GroupBy::kThread && is_native && !filter.any()) {
      return table->AddNative(totals);
    }
    table->Add(PlaceOf(table->by(), replay.index(),
                       Origin{.stack = stack, .thread = thread}),
               totals);
  });
  table->AddUnseen(replay.unattributed_bytes());
}

}  // namespace pymemrun
