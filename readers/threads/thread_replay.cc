#include "readers/threads/thread_replay.h"

#include <algorithm>

#include "readers/places/place_table.h"

namespace pymemrun {

ThreadTotals* ThreadReplay::Of(uint32_t thread) {
  return &threads_[thread < threads_.size() ? thread : 0];
}

// Ids are dense: this is the next one. What found no room in the index is
// nobody's.
void ThreadReplay::OnThread(const ThreadDef& thread) {
  ResidentReplay::OnThread(thread);
  if (threads_.size() > index().threads()) return;
  threads_.push_back({});
  threads_.back().first_us = threads_.back().last_us = thread.first_us();
}

void ThreadReplay::See(uint32_t thread, uint64_t time_us) {
  ThreadTotals* const totals = Of(thread);
  totals->first_us = std::min(totals->first_us, time_us);
  totals->last_us = std::max(totals->last_us, time_us);
}

bool ThreadReplay::OnRows(const Row* rows, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    ++Of(rows[i].thread)->rows;
    See(rows[i].thread, rows[i].time_us);
  }
  return ResidentReplay::OnRows(rows, count);
}

bool ThreadReplay::OnHeap(const HeapEvent* events, size_t count) {
  for (size_t i = 0; i < count; ++i) See(events[i].thread, events[i].time_us);
  return true;
}

void ThreadReplay::OnChanged(uint32_t thread, uint32_t stack, int64_t bytes) {
  if (now_us() == 0) return;  // before the program's own code
  See(thread, now_us());
  ThreadTotals* const totals = Of(thread);
  if (bytes < 0) {
    totals->shrinkage_bytes -= static_cast<uint64_t>(bytes);
    return;
  }
  totals->growth_bytes += static_cast<uint64_t>(bytes);
  const std::pair<uint32_t, uint32_t> key(thread, stack);
  if (stack == 0 || (came_.size() >= kMaxStacks && !came_.contains(key))) {
    return;
  }
  came_[key] += static_cast<uint64_t>(bytes);
}

void ThreadReplay::OnTime(uint64_t time_us) {
  if (!has_peak_ && now_us() <= peak_us_ && peak_us_ < time_us) TakePeak();
}

void ThreadReplay::TakePeak() {
  has_peak_ = true;
  const std::vector<PageOwner>& owners = model().owners();
  for (uint32_t id = 1; id < owners.size(); ++id) {
    Of(owners[id].thread)->peak_bytes +=
        model().PagesOf(id) * model().page_bytes();
  }
}

// A line is reached by several stacks.
void ThreadReplay::FindTopLines() {
  PlaceTable lines;
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, uint64_t> bytes_of;
  for (const auto& [key, bytes] : came_) {
    const auto [thread, stack] = key;
    const uint32_t line =
        lines.NumberOf(GroupBy::kLine, index(), Origin{.stack = stack});
    const uint64_t sum = bytes_of[{thread, line}] += bytes;
    ThreadTotals* const totals = Of(thread);
    const bool is_first = sum == totals->top_bytes && stack < totals->top_stack;
    if (sum < totals->top_bytes || (sum == totals->top_bytes && !is_first)) {
      continue;
    }
    totals->top_bytes = sum;
    totals->top_stack = stack;
  }
}

void ThreadReplay::Finish() {
  ResidentReplay::Finish();
  if (!has_peak_) TakePeak();
  FindTopLines();
}

int64_t ThreadReplay::unattributed_bytes() const {
  int64_t by_threads = 0;
  for (const ThreadTotals& totals : threads_) by_threads += totals.net_bytes();
  return static_cast<int64_t>(model().RssBytes() - header().first_rss_bytes()) -
         by_threads;
}

}  // namespace pymemrun
