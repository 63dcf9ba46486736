#include "readers/threads/thread_drss.h"

#include <algorithm>
#include <utility>

namespace pymemrun {

std::unique_ptr<ThreadDrss> ThreadDrss::Read(const ReadRun& read,
                                             uint64_t from_us) {
  auto drss = std::make_unique<ThreadDrss>(from_us, Hindsight());
  if (!read(drss.get()) || !drss->KnowsPages()) return nullptr;
  Hindsight hindsight;
  hindsight.late = drss->hindsight().late;
  if (hindsight.late.empty()) return drss;
  drss = std::make_unique<ThreadDrss>(from_us, std::move(hindsight));
  return read(drss.get()) ? std::move(drss) : nullptr;
}

// Ids are dense: this is the next one.
void ThreadDrss::OnThread(const ThreadDef& thread) {
  ResidentReplay::OnThread(thread);
  if (threads_.size() <= index().threads()) threads_.emplace_back();
}

void ThreadDrss::OnChanged(uint32_t thread, uint32_t, int64_t bytes) {
  if (now_us() == 0 || now_us() < from_us_ || bytes == 0) return;
  std::vector<Change>& changes =
      threads_[thread < threads_.size() ? thread : 0].by_time;
  if (!changes.empty() && changes.back().time_us == now_us()) {
    changes.back().bytes += bytes;
  } else {
    changes.push_back({now_us(), bytes});
  }
}

// Of a renamed thread all are put together.
void ThreadDrss::Finish() {
  ResidentReplay::Finish();
  for (uint32_t id = 0; id < threads_.size(); ++id) {
    const uint32_t latest = index().LatestThread(id);
    latest_.push_back(latest < threads_.size() ? latest : id);
    if (latest_[id] == id) continue;
    std::vector<Change>& to = threads_[latest].by_time;
    const std::vector<Change> from = std::move(threads_[id].by_time);
    to.insert(to.end(), from.begin(), from.end());
  }
  const auto is_before = [](const Change& a, const Change& b) {
    return a.time_us < b.time_us;
  };
  for (Changes& thread : threads_) {
    std::vector<Change>& changes = thread.by_time;
    if (!std::is_sorted(changes.begin(), changes.end(), is_before)) {
      std::stable_sort(changes.begin(), changes.end(), is_before);
    }
    if (!changes.empty()) thread.next_us = changes[0].time_us;
  }
}

int64_t ThreadDrss::TakeUntil(uint64_t time_us, Changes* changes) {
  const std::vector<Change>& all = changes->by_time;
  int64_t bytes = 0;
  size_t& taken = changes->taken;
  for (; taken < all.size() && all[taken].time_us <= time_us; ++taken) {
    bytes += all[taken].bytes;
  }
  changes->next_us = taken < all.size() ? all[taken].time_us : kEnd;
  return bytes;
}

}  // namespace pymemrun
