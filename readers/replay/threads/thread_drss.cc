#include "readers/replay/threads/thread_drss.h"

#include <algorithm>
#include <utility>

namespace pymemrun {

// A second reading is needed only if pages came earlier than they were
// recorded.
std::unique_ptr<ThreadDrss> ThreadDrss::Read(const ReadRun& read,
                                             uint64_t from_us) {
  auto drss = std::make_unique<ThreadDrss>(from_us, Hindsight());
  if (!read({drss.get()}) || !drss->KnowsPages()) return nullptr;
  Hindsight hindsight;
  hindsight.late = drss->hindsight().late;
  if (hindsight.late.empty()) return drss;
  drss = std::make_unique<ThreadDrss>(from_us, std::move(hindsight));
  return read({drss.get()}) ? std::move(drss) : nullptr;
}

std::unique_ptr<ThreadDrss> ThreadDrss::Read(RereadFile* file) {
  const auto read = OneByOne([file](ReplayVisitor* replay) {
    const bool was_read = file->ReadAgain(replay);
    replay->Finish();
    return was_read;
  });
  return Read(read, 0);
}

// Ids are consecutive: this is the next one.
void ThreadDrss::OnThread(const ThreadDef& thread) {
  ResidentReplay::OnThread(thread);
  if (threads_.size() <= index().threads()) threads_.emplace_back();
}

// Changes of one microsecond are one entry.
void ThreadDrss::OnChanged(const PageOwner& by, int64_t bytes) {
  if (now_us() == 0 || bytes == 0) return;
  std::vector<Change>& changes =
      threads_[by.thread < threads_.size() ? by.thread : 0].by_time;
  if (!changes.empty() && changes.back().time_us == now_us()) {
    changes.back().bytes += bytes;
  } else {
    changes.push_back({now_us(), bytes});
  }
}

// Joins the changes of all ids of a renamed thread. Then changes become running
// sums, so that a change between two times is a difference of two entries.
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
    int64_t sum = 0;
    for (Change& change : changes) change.bytes = sum += change.bytes;
    if (from_us_ > 0) TakeUntil(from_us_ - 1, &thread);
    if (thread.taken < changes.size()) {
      thread.next_us = changes[thread.taken].time_us;
    }
  }
}

int64_t ThreadDrss::TakeUntil(uint64_t time_us, Changes* changes) {
  const std::vector<Change>& all = changes->by_time;
  size_t& taken = changes->taken;
  const int64_t before = taken > 0 ? all[taken - 1].bytes : 0;
  while (taken < all.size() && all[taken].time_us <= time_us) ++taken;
  changes->next_us = taken < all.size() ? all[taken].time_us : kEnd;
  return taken > 0 ? all[taken - 1].bytes - before : 0;
}

int64_t ThreadDrss::Between(uint32_t thread, uint64_t from_us,
                            uint64_t to_us) const {
  const std::vector<Change>& all = threads_[IdOf(thread)].by_time;
  const auto sum_at = [&all](uint64_t time_us) {
    const auto after = std::partition_point(
        all.begin(), all.end(),
        [=](const Change& change) { return change.time_us <= time_us; });
    return after == all.begin() ? 0 : (after - 1)->bytes;
  };
  return sum_at(to_us) - sum_at(from_us);
}

}  // namespace pymemrun
